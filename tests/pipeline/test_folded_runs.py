"""Without the compiled module a report is read as a whole; with it, work of which only sums are asked for is not."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.analysis.registry import analyses
from nsysan.attribution.folded_work import _Folding
from nsysan.ingest.sqlite.page_columns import is_module_there
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.run import Run
    from nsysan.model.trace import Trace

OF_SUMS = AnalyzeOptions(only=tuple(analysis.id for analysis in analyses() if analysis.of_sums))
"""Whoever says so must ask for nothing but sums."""
NAMES = ("gemm", "ncclDevKernel_AllReduce_Sum", "elementwise")


def report(folder: Path, *, seed: int, kernel_count: int = 5_000) -> Path:
    """Two processes with a GPU each, whose kernels are written as they begin, some of them late."""
    drawn, export = random.Random(seed), Export()
    export.cuda_device(pid=100, gpu_id=0).cuda_device(pid=200, gpu_id=1)
    for number in range(kernel_count):
        start_ns = 1_000 * number + drawn.randrange(20_000)
        end_ns = start_ns + drawn.randrange(1_500)
        export.kernel(start_ns, end_ns, drawn.choice(NAMES), pid=drawn.choice((100, 200)))
        if number % 50 == 0:
            export.copy(start_ns, end_ns, 64, pid=100)
    return export.write(folder / "rank0.sqlite")


def told(run: Run) -> Run:
    return replace(run, created_utc="")


def watched_slices(monkeypatch: pytest.MonkeyPatch) -> list[Trace]:
    """The slices that are taken up from now on."""
    taken: list[Trace] = []
    add = _Folding.add

    def watched(folding: _Folding, trace: Trace) -> None:
        taken.append(trace)
        add(folding, trace)

    monkeypatch.setattr(_Folding, "add", watched)
    return taken


@pytest.mark.skipif(not is_module_there(), reason="the compiled module was not built")
def test_sums_are_those_of_the_whole_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = report(tmp_path, seed=7)
    # one block and one slice would be the whole again
    monkeypatch.setattr("nsysan.ingest.sqlite.page_columns._BLOCK_ROWS", 500)
    monkeypatch.setattr("nsysan.ingest.nsys.work_slices.FEWEST_ROWS", 500)
    slices = watched_slices(monkeypatch)

    by_sums = analyze([path], OF_SUMS)
    monkeypatch.setenv("NSYSAN_NATIVE", "0")
    whole = analyze([path], OF_SUMS)

    assert told(by_sums) == told(whole)
    assert len(slices) > 2
