"""Comparisons to draw: one of everything, one of nothing, and one in which every text is hostile."""

from __future__ import annotations

from nsysan.history.comparison import Comparison, compare
from nsysan.history.snapshot import KeptFinding
from nsysan.model.figures import Bearing, Better, Condition, Figure, Topic, Unit
from nsysan.model.results import Skipped
from nsysan.model.verdicts import Severity
from tests.history.snapshots import gpu_model, kernel_figures, shape_figures, snapshot, step_figures

COPY_RATES = Topic("copy_rates", "Rates of copies and fills")


def full_comparison(text: str = "") -> Comparison:
    """Every part of a comparison, with ``text`` in every field that can hold text of a trace."""

    def finding(found_id: str, title: str) -> KeptFinding:
        return KeptFinding(found_id, None, Severity.WARNING, f"{title}{text}")

    before = snapshot(
        *step_figures(80, 20, {"data_loading": 30, "host_sync": 10}, error_ms=0.5),
        *kernel_figures(f"gemm{text}", 40, 12),
        *kernel_figures(f"old{text}", 3, 1),
        *shape_figures(f"gemm{text}", f"grid 8{text}", 30, 10),
        *shape_figures(f"gemm{text}", f"grid 4{text}", 10, 2),
        Figure(COPY_RATES, "h2d", f"host to device{text}", 20e9, Unit.BYTES_PER_S, Better.MORE),
        name=f"before.sqlite{text}",
        conditions=(gpu_model(f"A100{text}"), Condition("steps", "steps told by", f"nvtx{text}", Bearing.CAUTIONS)),
        findings=(finding("data_wait", "The data loader is waited for"), finding("stays", "Stays")),
    )
    after = snapshot(
        *step_figures(82, 12, {"data_loading": 5, "host_sync": 10}, error_ms=0.5),
        *kernel_figures(f"gemm{text}", 44, 12),
        *kernel_figures(f"new{text}", 1, 1.5),
        *shape_figures(f"gemm{text}", f"grid 8{text}", 33, 10),
        *shape_figures(f"gemm{text}", f"grid 4{text}", 11, 2),
        Figure(COPY_RATES, "h2d", f"host to device{text}", 25e9, Unit.BYTES_PER_S, Better.MORE),
        name=f"after.sqlite{text}",
        conditions=(gpu_model(f"H100{text}"), Condition("steps", "steps told by", None, Bearing.CAUTIONS)),
        findings=(finding("stays", "Stays"), finding("exposed", "Something new")),
        skipped=(Skipped("launches", f"no calls were recorded{text}", f"Record calls{text}"),),
    )
    return compare(before, after)


def empty_comparison() -> Comparison:
    """Two runs that know nothing."""
    return compare(snapshot(name="before.sqlite"), snapshot(name="after.sqlite"))
