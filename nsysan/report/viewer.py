"""Where a reader finds the times of a report again."""

from __future__ import annotations

from nsysan.model.profilers import Profiler
from nsysan.model.run import Run

_VIEWERS = {Profiler.NSYS: "Nsight Systems", Profiler.TORCH: "a trace viewer"}


def viewer_of(run: Run) -> str:
    """The program that shows the times of the run's reports as they stand in the report."""
    profilers = {report.profiler for report in run.reports} or {Profiler.NSYS}
    return _VIEWERS[profilers.pop()] if len(profilers) == 1 else "each profiler's own viewer"
