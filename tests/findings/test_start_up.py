"""What starting up costs, where there is anything to share it out of."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.synth.export import Export
from tests.runs import analyze_exports

if TYPE_CHECKING:
    from pathlib import Path


def test_a_window_without_any_length_has_no_start_up(tmp_path: Path) -> None:
    """Of the first report one kernel without a length is left; the second has steps, and no idle time before them."""
    moment = Export().host("node1").call(0, 5, "cudaLaunchKernel", correlation=1).kernel(10, 10, "gemm", correlation=1)
    steps = Export().host("node2")
    for step in range(6):
        begin_ns = 1_000 * step
        steps.nvtx(begin_ns, begin_ns + 1_000, f"iteration {step}")
        steps.call(begin_ns + 10, begin_ns + 20, "cudaLaunchKernel", correlation=step + 1)
        steps.kernel(begin_ns + 30, begin_ns + 900, "gemm", correlation=step + 1)

    run = analyze_exports(tmp_path, moment, steps)

    assert "start_up" not in {found.id for found in run.findings}
