"""What nccl-tests prints and writes: every layout, and no figure of a run that failed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.ingest.evidence.reading import read_evidence
from nsysan.model.errors import InputError
from nsysan.model.kernels import Collective
from nsysan.model.nccl_tests import NcclTest, NcclTestRow

EVIDENCE = Path(__file__).parents[3] / "shared" / "evidence"

NEW = """\
# nccl-tests version 2.17.8 nccl-headers=22703 nccl-library=22703
# Collective test starting: all_gather_perf
# nThread 1 nGpus 2 minBytes 8 maxBytes 268435456 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1
# Using devices
#  Rank  0 Group  0 Pid    168 on node0 device  0 [0000:21:00] NVIDIA A800-SXM4-80GB
#  Rank  1 Group  0 Pid    169 on node1 device  0 [0000:27:00] NVIDIA A800-SXM4-80GB
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
     1048576        131072     float    none      -1    54.10   19.38    9.69       0    54.01   19.42    9.71     N/A
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 9.7
"""
OLD = """\
# nThread 1 nGpus 1 minBytes 4096 maxBytes 8192 step: 2(factor) warmup iters: 5 iters: 20 validation: 1
# Using devices
#   Rank  0 Pid  26528 on  dgx-work01 device  0 [0x07] NVIDIA A100-SXM4-40GB
#   Rank  1 Pid  26529 on  dgx-work01 device  1 [0x0a] NVIDIA A100-SXM4-40GB
#                                                       out-of-place                       in-place
#       size         count      type   redop     time   algbw   busbw  error     time   algbw   busbw  error
#        (B)    (elements)                       (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
        4096          1024     float     sum    93.73    0.04    0.09  1e-06    93.15    0.04    0.09  1e-06
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 0.09
"""
OLDEST = """\
nThread 1 nGpus 2 minBytes 9 maxBytes 33554432 step: 1048576(bytes) warmup iters: 5 iters: 20 validation: 1
./build/all_reduce_perf -b 9
      bytes             N    type      op    root     time  algbw  busbw      res     time  algbw  busbw      res
       4096          1024   float     sum       0    0.030   0.14   0.14    0e+00    0.029   0.14   0.14    0e+00
 Out of bounds values : 0 OK
 Avg bus bandwidth    : 0.14
"""


def found_in(folder: Path, text: str) -> tuple[NcclTest, ...]:
    (folder / "out.txt").write_text(text)
    return read_evidence([folder / "out.txt"]).of(NcclTest)


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        found_in(folder, text)
    return caught.value.message


def test_the_layout_of_today(tmp_path: Path) -> None:
    [test] = found_in(tmp_path, NEW)

    row = NcclTestRow(1_048_576, 131_072, "float", None, None, False, 54_100.0, 19.38e9, 9.69e9, 0)  # noqa: FBT003
    in_place = NcclTestRow(1_048_576, 131_072, "float", None, None, True, 54_010.0, 19.42e9, 9.71e9, None)  # noqa: FBT003
    assert test == NcclTest(
        name="out.txt",
        kind=Collective.ALL_GATHER,
        kind_is_inferred=False,
        nccl_version="2.27.3",
        rank_count=2,
        node_count=2,
        process_count=2,
        gpu_names=("NVIDIA A800-SXM4-80GB",),
        is_cpu_time=False,
        rows=(row, in_place),
        average_busbw_bytes_per_s=9.7e9,
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (OLD, (None, 2, "sum", None, [93_730.0, 93_150.0])),
        (OLDEST, (Collective.ALL_REDUCE, None, "sum", 0, [30.0, 29.0])),
    ],
    ids=["with errors in place of counts", "of 2018"],
)
def test_earlier_layouts(tmp_path: Path, text: str, told: tuple[object, ...]) -> None:
    [test] = found_in(tmp_path, text)

    row = test.rows[0]
    assert (test.kind, test.rank_count, row.reduction, row.root, [one.time_ns for one in test.rows]) == told
    assert [one.in_place for one in test.rows] == [False, True]
    assert {one.wrong_count for one in test.rows} == {None}


def test_rates_that_the_table_cuts_off_are_worked_out(tmp_path: Path) -> None:
    small = "8 1 float none -1 100.00 0.00 0.00 0 80.00 0.00 0.00 0\n"
    row = "     1048576        131072"

    [test] = found_in(tmp_path, NEW.replace(row, small + row))

    # 8 bytes in 100 and in 80 us, over two ranks half of it on the bus as 9.71 of 19.42 GB/s
    assert [one.algbw_bytes_per_s for one in test.rows[:2]] == [80_000.0, 100_000.0]
    assert [one.busbw_bytes_per_s for one in test.rows[:2]] == [40_000.0, 50_000.0]


def test_what_launchers_put_around_the_pieces_of_a_line(tmp_path: Path) -> None:
    piecewise = (
        NEW.replace("     54.10", "[0]    54.10").replace("\n   ", "\n[1,0]<stdout>:   ").replace("\n#", "\n[0]#")
    )

    assert found_in(tmp_path, piecewise) == found_in(tmp_path, NEW)


def test_columns_of_single_iterations_and_the_time_of_day(tmp_path: Path) -> None:
    heading = "time algbw busbw #wrong i_min i_max i_p99 i_cv%"
    text = (
        f"# size count type redop root {heading} {heading} timestamp\n"
        "1048576 262144 float sum -1 54.1 19.38 33.92 0 50 60 59 2.1 54.0 19.42 33.98 0 50 60 59 2.0 "
        "2026-05-05 06:16:47\n"
        "# Out of bounds values : 0 OK\n"
    )

    [test] = found_in(tmp_path, text)

    assert [row.busbw_bytes_per_s for row in test.rows] == pytest.approx([33.92e9, 33.98e9])


def test_several_tests_in_one_file(tmp_path: Path) -> None:
    found = found_in(tmp_path, NEW + NEW.replace("all_gather", "reduce_scatter"))

    assert [test.kind for test in found] == [Collective.ALL_GATHER, Collective.REDUCE_SCATTER]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (NEW.replace("0 OK", "248 FAILED"), "248 wrong results"),
        (NEW.replace("9.69       0", "9.69       3"), "1 wrong results"),
        (NEW.partition("# Out of bounds")[0], "ends before its test of nccl-tests does"),
        (NEW.partition("     1048576")[0] + "# Out of bounds values : 0 OK\n", "without rows"),
        (NEW.replace("54.10   19.38", "nan     inf").replace("54.01   19.42", "nan     inf"), "without rows"),
        (
            NEW.partition("#       size")[0]
            + "node0: Test NCCL failure common.cu:1005 'remote process exited' .. on 1\n",
            "A test of nccl-tests failed: Test NCCL failure common.cu:1005 'remote process exited' .. on 1.",
        ),
        ("# nThread 1 nGpus 8 minBytes 8 maxBytes 16\nKilled\n", "printed no table"),
    ],
    ids=["wrong data", "wrong data in a row", "cut off", "no rows", "no figures", "failed", "killed"],
)
def test_failed_runs_are_refused(tmp_path: Path, text: str, why: str) -> None:
    assert why in refusal(tmp_path, text)


def document(**changed: object) -> str:
    times = {"time": 54.1, "alg_bw": 19.38, "bus_bw": 33.92, "nwrong": 0.0}
    told = {
        "version": 2,
        "args": ["./build/all_reduce_perf", "-g", "8"],
        "env": ["WANDB_API_KEY=secret"],
        "nccl_version": 22703,
        "config": {
            "nthreads": 1,
            "ngpus": 2,
            "devices": [{"rank": 0, "pid": 7, "hostname": "a", "device_info": "H100"}] * 2,
        },
        "results": [
            {"size": 1048576, "count": 262144, "type": "float", "redop": "sum", "root": "    -1"}
            | {"out_of_place": times, "in_place": None}
        ],
        "out_of_bounds": {"count": 0, "okay": "true"},
        "average_bus_bandwidth": {"bandwidth": 33.92, "okay": "unchecked"},
    }
    return json.dumps(told | changed)


def test_the_json_that_it_writes(tmp_path: Path) -> None:
    [test] = found_in(tmp_path, document())

    assert (test.kind, test.nccl_version) == (Collective.ALL_REDUCE, "2.27.3")
    assert (test.rank_count, test.node_count, test.process_count) == (2, 1, 1)
    assert [(row.size_bytes, row.in_place, row.time_ns, row.wrong_count) for row in test.rows] == [
        (1_048_576, False, 54_100.0, 0)
    ]
    assert test.average_busbw_bytes_per_s == pytest.approx(33.92e9)
    assert "secret" not in repr(test)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (document(out_of_bounds={"count": 3, "okay": "false"}), "3 wrong results"),
        (document(out_of_bounds=None), "did not finish"),
        (document(results=[]), "did not finish"),
        (document()[:-300], "is no whole JSON of nccl-tests"),
    ],
)
def test_json_of_failed_runs_is_refused(tmp_path: Path, text: str, why: str) -> None:
    assert why in refusal(tmp_path, text)


@pytest.mark.skipif(not EVIDENCE.exists(), reason="the shared evidence is not beside this checkout")
def test_real_tables() -> None:
    names = ("nccl-info-8xA800-2.27.log", "nccl-tests-2x8-H100.txt")

    of_log, of_table = read_evidence([EVIDENCE / name for name in names]).of(NcclTest)

    # the second does not name its test: 338.82 / 180.71 GB/s is 2 * 15 / 16, which only an all-reduce has
    told = [(test.kind, test.kind_is_inferred, test.rank_count, test.node_count) for test in (of_log, of_table)]
    assert told == [(Collective.ALL_REDUCE, False, 8, 1), (Collective.ALL_REDUCE, True, 16, 2)]
    assert (of_log.process_count, of_table.process_count) == (1, 16)
    assert (len(of_log.rows), len(of_table.rows)) == (52, 62)
    last = of_table.rows[-1]
    assert (last.size_bytes, last.time_ns) == (1 << 33, 47_743_000.0)
    assert last.busbw_bytes_per_s == pytest.approx(337.35e9)
