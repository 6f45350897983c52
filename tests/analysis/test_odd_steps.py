"""Steps whose markers are nested, spread over threads, numbered anew, without length, or missing on one rank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nsysan.analysis.steps import Steps
from nsysan.model.results import Skipped
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

LAUNCH = "cudaLaunchKernel_v7000"
MS = 1_000_000


def work(export: Export, *, pid: int = 100, device: int = 0, count: int = 6) -> Export:
    """A kernel every 10 ms, from 5 to 9 ms after the begin of each step, called 1 us before."""
    for place in range(count):
        start_ns = (10 * place + 5) * MS
        export.call(start_ns - 1_000, start_ns, LAUNCH, pid=pid, correlation=place + 1)
        export.kernel(start_ns, start_ns + 4 * MS, "gemm", pid=pid, device=device, correlation=place + 1)
    return export


Mark = Callable[[Export, int], object]
MARKED: dict[str, Mark] = {
    # a framework's range and the user's own of one name; the numbers go 0, 0, 1, 1, ...
    "twice": lambda export, k: span(span(export, k, f"step {k}"), k, f"step {k}", shorter_ns=MS),
    "numbering inside, too": lambda export, k: span(span(export, k, f"step {k}"), k, f"step {k * 7}", shorter_ns=MS),
    "on three threads": lambda export, k: [span(export, k, f"step {k}", tid=tid) for tid in (100, 200, 300)],
    "anew each epoch": lambda export, k: span(export, k, f"iteration {k % 3}"),
    "with letters of expressions": lambda export, k: span(export, k, rf".*+?[](){{}}^$|\ step {k}"),
    "with codes of terminals": lambda export, k: span(export, k, f"\x1b[31m\u202estep {k}\x1b[0m\x07"),
    "among ranges that cross them": lambda export, k: [
        span(export, k, f"step {k}"),
        export.nvtx((10 * k + 7) * MS, (10 * k + 14) * MS, f"prefetch {k}"),
    ],
}


def span(export: Export, step: int, text: str, *, shorter_ns: int = 0, tid: int = 100) -> Export:
    return export.nvtx(10 * step * MS + shorter_ns, 10 * (step + 1) * MS - shorter_ns, text, tid=tid)


@pytest.mark.parametrize("mark", MARKED.values(), ids=MARKED)
def test_steps_tile_however_they_are_marked(tmp_path: Path, mark: Mark) -> None:
    export = work(Export())
    for step in range(6):
        mark(export, step)

    (device,) = result_of(analyze_exports(tmp_path, export), Steps).steps.devices

    bounds = [(step.start_ns // MS, step.end_ns // MS) for step in device.list]
    assert bounds == [(5, 15), (15, 25), (25, 35), (35, 45), (45, 55)]


@pytest.mark.parametrize("text", ["step {}", "step " + "9" * 5_000 + "{}"], ids=["no length", "no number"])
def test_what_has_no_length_or_no_number_marks_nothing(tmp_path: Path, text: str) -> None:
    export, length_ns = work(Export()), 0 if text == "step {}" else 9 * MS
    for step in range(6):
        export.nvtx(10 * step * MS, 10 * step * MS + length_ns, text.format(step))

    run = analyze_exports(tmp_path, export)

    assert isinstance(run.results.get(Steps), Skipped)


def test_a_rank_without_markers_is_named(tmp_path: Path) -> None:
    export = work(work(Export()), pid=200, device=1)
    for step in range(6):
        span(export, step, f"step {step}")

    run = analyze_exports(tmp_path, export)

    assert [device.id for device in result_of(run, Steps).steps.devices] == ["r0/p100/d0"]
    assert [note.sentence for note in run.notes if note.id == "devices_without_steps"] == [
        "1 of 2 devices has no steps that can be told (r0/p200/d1): what is said of steps is of the others."
    ]
