"""Profiles given as evidence whose shapes no report took, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from nsysan.analysis.gemms import Gemms
from nsysan.attribution.job import Job
from nsysan.attribution.profiled_products import ProfiledShapes, profiled_shapes
from nsysan.model.profiled import ProfiledTrace
from nsysan.model.profilers import BOTH_ACTIVITIES
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.run import Note
from nsysan.model.text import display_text, first_names
from nsysan.model.trace import Trace


def shapes_not_taken_notes(job: Job, results: ResultSet) -> Iterator[Note]:
    """A note a reason for which profiles of PyTorch gave no shapes to the results; ``gemms`` must have been asked for.

    It also says where they contradict the shapes that were taken.
    """
    gemms = results.get(Gemms)
    sources = () if isinstance(gemms, Skipped) else gemms.gemm_shape_sources
    profiles = job.evidence.of(ProfiledTrace)
    unused = [one for one in profiles if display_text(one.name) not in sources]
    if not unused:
        return
    # of reports that tell shapes themselves the first speaks for all
    taken = [one for one in profiles if one not in unused] or [ProfiledTrace(one.name, one) for one in job.traces[:1]]
    shapes = [(display_text(one.name), told) for one in taken if (told := profiled_shapes(one)) is not None]
    names: defaultdict[str, list[str]] = defaultdict(list)
    for profiled in unused:
        names[_why(profiled, gemms, shapes)].append(display_text(profiled.name))
    for why, alike in names.items():
        yield Note("shapes_not_taken", f"No shapes of products are taken from {first_names(alike)}: {why}.")


def _why(profiled: ProfiledTrace, gemms: Gemms | Skipped, taken: Sequence[tuple[str, ProfiledShapes]]) -> str:
    told = profiled_shapes(profiled)
    if told is None:
        is_needed = isinstance(gemms, Skipped) or gemms.gemm_shape_sources
        return _lack(profiled.trace) if is_needed else _already("the report", 0, 0)
    unfit = "the launches of kernels there do not fit those of the report, so it may be another job"
    if isinstance(gemms, Skipped):
        return unfit
    for name, shapes in taken:
        if (differing := told.differing_from(shapes)) is not None:
            return _already(name if gemms.gemm_shape_sources else "the report", *differing)
    if not gemms.gemm_shape_sources:
        return _already("the report", 0, 0)
    return f"{unfit}, or {gemms.gemm_shape_sources[0]} tells them already"


def _lack(trace: Trace) -> str:
    """What to record so that the profile tells shapes of kernels."""
    if trace.kernels is None or not len(trace.kernels):
        return f"no kernels were recorded there; record with {BOTH_ACTIVITIES}"
    return "none are told there; record with record_shapes=True"


def _already(source: str, differing_count: int, count: int) -> str:
    """Who else tells the shapes, and of how many launches of how many others."""
    who = f"{source} tells them itself" if source == "the report" else f"{source} tells them already"
    if not differing_count:
        return who
    return f"{who}, in contradiction: the shapes of {differing_count:,} of {count:,} launches differ"
