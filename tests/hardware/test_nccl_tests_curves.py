"""Curves from tables of nccl-tests: what of a table is in none is said."""

from __future__ import annotations

from pathlib import Path

from nsysan.pipeline.import_ceilings import import_ceilings

TABLE = """\
# nThread 1 nGpus 1 minBytes 1048576 maxBytes 4194304 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1
# Collective test starting: all_reduce_perf
# Using devices
#  Rank  0 Group  0 Pid  1 on  node0 device  0 [0x07] NVIDIA H100 80GB HBM3
#  Rank  1 Group  0 Pid  2 on  node0 device  1 [0x0a] NVIDIA H100 80GB HBM3
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
     1048576        262144     float     sum      -1    50.00   20.97   20.97       0    50.00   20.97   20.97       0
     2097152        524288     float     sum      -1    {time}  20.97   20.97       0   100.00   20.97   20.97       0
     {again}        262144     float     sum      -1   200.00   20.97   20.97       0   200.00   20.97   20.97       0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 20.9
"""


def imported(folder: Path, time: str = "100.00", again: str = "4194304") -> tuple[list[list[int]], tuple[str, ...]]:
    """The sizes of each curve, and the warnings."""
    path = folder / "out.txt"
    path.write_text(TABLE.format(time=time, again=again))
    found = import_ceilings([path], None)
    return [[point.size_bytes for point in curve.points] for curve in found.collectives], found.warnings


def test_a_sound_table_is_all_in_its_curves(tmp_path: Path) -> None:
    assert imported(tmp_path) == ([[1 << 20, 2 << 20, 4 << 20]] * 2, ())


def test_an_unusable_figure_costs_its_own_point_and_is_said(tmp_path: Path) -> None:
    for time in ("nan", "inf", "-3", "0.00", "x"):
        curves, warnings = imported(tmp_path, time=time)

        assert sorted(curves, key=len) == [[1 << 20, 4 << 20], [1 << 20, 2 << 20, 4 << 20]]
        assert warnings == ("out.txt: 1 row without usable figures left out.",)


def test_of_a_size_measured_twice_the_last_counts_and_is_said(tmp_path: Path) -> None:
    curves, warnings = imported(tmp_path, again="2097152")

    assert curves == [[1 << 20, 2 << 20]] * 2
    assert warnings == ("out.txt: 2 rows of a size measured again left out; the last one counts.",)
