"""Kernels of one name in their shapes: how long each takes, and what each takes of the mean steady step."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.analysis.kernel_shapes import OTHER_SHAPES, SHAPES_OF_NAME, KernelShapeRow, KernelShapes
from nsysan.model.results import Skipped
from nsysan.model.text import text_hash
from nsysan.synth.export import Export, KernelShape
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

US = 1_000
LAUNCH = "cudaLaunchKernel_v7000"


def _run(export: Export, start_us: int, end_us: int, name: str, grid: tuple[int, int, int]) -> None:
    correlation = export._correlations.get(100, 0) + 1
    export.call((start_us - 5) * US, (start_us - 4) * US, LAUNCH, tid=100, correlation=correlation)
    shape = KernelShape(block=(256, 1, 1), grid=grid)
    export.kernel(start_us * US, end_us * US, name, correlation=correlation, shape=shape)


def _steps() -> Export:
    """Four steps of 100 us, three of them closed: one copy_kernel of 8 x 4 blocks, and two or one of 16 blocks."""
    export = Export()
    for step in range(4):
        begin_us = 100 * step
        export.nvtx(begin_us * US, (begin_us + 100) * US, f"step {step}")
        _run(export, begin_us + 10, begin_us + 40, "softmax", (8, 4, 1))
        _run(export, begin_us + 50, begin_us + 60, "softmax", (16, 1, 1))
        if step % 2:
            _run(export, begin_us + 70, begin_us + 84, "softmax", (16, 1, 1))
    return export


def _row(shape: str, count: int, total_us: int, median_us: float, *per_step: float) -> KernelShapeRow:
    runs, time_us = per_step or (None, None)
    time_ns = None if time_us is None else time_us * US
    hashed = text_hash("softmax")
    return KernelShapeRow("softmax", hashed, shape, count, total_us * US, median_us * US, runs, time_ns)


def test_a_name_has_a_row_for_each_grid_and_block_it_was_launched_with(tmp_path: Path) -> None:
    found = result_of(analyze_exports(tmp_path, _steps()), KernelShapes)

    assert found.kernel_shapes == (
        _row("grid 8x4 block 256", 4, 120, 30.0, 1.0, 30.0),
        # 10, 10, 14, 10, 10, 14 us; in the closed steps 10, 10 + 14, 10
        _row("grid 16 block 256", 6, 68, 10.0, 4 / 3, 44 / 3),
    )


def test_a_product_is_known_by_what_it_multiplies_whatever_its_grid(tmp_path: Path) -> None:
    export = Export()
    for place, grid in enumerate(((8, 1, 1), (4, 2, 1))):
        begin_us = 100 * place + 10
        export.nvtx(
            (begin_us - 8) * US, (begin_us + 50) * US, "aten::linear, sizes = [[32, 8], [16, 8], [16]]", tid=100
        )
        _run(export, begin_us, begin_us + 20, "sgemm", grid)
        # what is added beside it multiplies nothing
        _run(export, begin_us + 30, begin_us + 35, "elementwise_kernel", grid)

    shapes = result_of(analyze_exports(tmp_path, export), KernelShapes).kernel_shapes

    assert [(row.name, row.shape, row.count) for row in shapes] == [
        ("sgemm", "32x16x8", 2),
        ("elementwise_kernel", "grid 4x2 block 256", 1),
        ("elementwise_kernel", "grid 8 block 256", 1),
    ]


def test_more_shapes_than_are_told_apart_are_put_together(tmp_path: Path) -> None:
    export = Export()
    for place in range(SHAPES_OF_NAME + 3):
        # the first take longest: 127, 126, ... us; the last three 103, 102, 101
        _run(export, 200 * place + 10, 200 * place + 10 + 127 - place, "softmax", (place + 1, 1, 1))

    shapes = result_of(analyze_exports(tmp_path, export), KernelShapes).kernel_shapes

    assert len(shapes) == SHAPES_OF_NAME + 1
    assert shapes[0] == _row("grid 1 block 256", 1, 127, 127.0)
    assert shapes[-1] == _row(OTHER_SHAPES, 3, 306, 102.0)


def test_without_kernels_it_is_skipped(tmp_path: Path) -> None:
    found = analyze_exports(tmp_path, Export().copy(0, 10, 8)).results.get(KernelShapes)

    assert isinstance(found, Skipped)
