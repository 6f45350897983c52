"""Profiles given as evidence whose shapes no report took, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.analysis.gemms import Gemms
from nsysan.attribution.job import Job
from nsysan.attribution.profiled_products import profiled_shapes
from nsysan.model.profiled import ProfiledTrace
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.run import Note
from nsysan.model.text import display_text


def shapes_not_taken_notes(job: Job, results: ResultSet) -> Iterator[Note]:
    """A note for each profile of PyTorch that gave no shapes to the results; ``gemms`` must have been asked for.

    It also says where the profile contradicts the shapes that were taken.
    """
    gemms = results.get(Gemms)
    sources = () if isinstance(gemms, Skipped) else gemms.gemm_shape_sources
    profiles = job.evidence.of(ProfiledTrace)
    for profiled in profiles:
        if (name := display_text(profiled.name)) not in sources:
            taken = [one for one in profiles if display_text(one.name) in sources]
            why = _why(profiled, gemms, taken or [ProfiledTrace(trace.name, trace) for trace in job.traces])
            yield Note("shapes_not_taken", f"No shapes of products are taken from {name}: {why}.")


def _why(profiled: ProfiledTrace, gemms: Gemms | Skipped, taken: Sequence[ProfiledTrace]) -> str:
    told = profiled_shapes(profiled)
    if told is None:
        is_needed = isinstance(gemms, Skipped) or gemms.gemm_shape_sources
        return "it tells none; record it with record_shapes=True" if is_needed else _already("the report", 0, 0)
    unfit = "the launches of kernels in it do not fit those of the report, so it may be of another job"
    if isinstance(gemms, Skipped):
        return unfit
    for one in taken:
        shapes = profiled_shapes(one)
        differing = None if shapes is None else told.differing_from(shapes)
        if differing is not None:
            return _already(display_text(one.name) if gemms.gemm_shape_sources else "the report", *differing)
    if not gemms.gemm_shape_sources:
        return _already("the report", 0, 0)
    return f"{unfit}, or {gemms.gemm_shape_sources[0]} tells them already"


def _already(source: str, differing_count: int, count: int) -> str:
    """Who else tells the shapes, and of how many launches of how many others."""
    who = f"{source} tells them itself" if source == "the report" else f"{source} tells them already"
    if not differing_count:
        return who
    return f"{who}, and the two contradict each other: of {differing_count:,} of {count:,} launches the shapes differ"
