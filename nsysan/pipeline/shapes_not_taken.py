"""Profiles given as evidence whose shapes no report took, and why."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.analysis.gemms import Gemms
from nsysan.attribution.job import Job
from nsysan.attribution.profiled_products import profiled_shapes
from nsysan.model.profiled import ProfiledTrace
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.run import Note
from nsysan.model.text import display_text


def shapes_not_taken_notes(job: Job, results: ResultSet) -> Iterator[Note]:
    """A note for each profile of PyTorch that gave no shapes to the results; ``gemms`` must have been asked for."""
    gemms = results.get(Gemms)
    sources = () if isinstance(gemms, Skipped) else gemms.gemm_shape_sources
    for profiled in job.evidence.of(ProfiledTrace):
        if (name := display_text(profiled.name)) not in sources:
            yield Note("shapes_not_taken", f"No shapes of products are taken from {name}: {_why(profiled, gemms)}.")


def _why(profiled: ProfiledTrace, gemms: Gemms | Skipped) -> str:
    if isinstance(gemms, Gemms) and not gemms.gemm_shape_sources:
        return "the report tells them itself"
    if profiled_shapes(profiled) is None:
        return "it tells none; record it with record_shapes=True"
    unfit = "the launches of kernels in it do not fit those of the report, so it may be of another job"
    if isinstance(gemms, Skipped):
        return unfit
    return f"{unfit}, or {gemms.gemm_shape_sources[0]} tells them already"
