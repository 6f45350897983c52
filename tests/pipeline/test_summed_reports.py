"""Where nobody compares reports sums and answers travel; the run is that of whole traces in one process."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_causes import IdleByCause
from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.analysis.launches import Launches
from nsysan.analysis.rank_waits import RankWaits
from nsysan.analysis.registry import analyses
from nsysan.attribution.folded_work import FoldedWork
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.local_workers import read_by_processes
from nsysan.pipeline.report_tasks import Order, ReadReport, read_here, read_packed
from nsysan.synth.export import Export
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import Request
from nsysan.synth.scenario import all_scenarios
from tests.analysis.nccl_traces import ALL_REDUCE
from tests.ingest.torch_traces import kernel, written
from tests.pipeline.test_same_capture import every_form
from tests.runs import result_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from nsysan.model.run import Run
    from nsysan.pipeline.report_tasks import Outcome
    from nsysan.synth.scenario import Scenario

MEGATRON = [
    Path(__file__).parents[3] / "shared" / "evidence" / f"torch-megatron-tp2-rank{rank}.pt.trace.json.gz"
    for rank in (0, 1)
]
OF_SUMS = AnalyzeOptions(only=tuple(analysis.id for analysis in analyses() if analysis.of_sums))
BY_THEMSELVES = AnalyzeOptions(only=tuple(analysis.id for analysis in analyses() if analysis.merge is not None))
ALONE = Order(questions=BY_THEMSELVES.only)
SUMS_ONLY = Order(with_host=False, details=frozenset(), fold=FoldedWork())


def by_two_processes(paths: Sequence[Path], options: Order) -> Iterator[Outcome]:
    return read_by_processes(paths, options, 2)


def told(run: Run) -> Run:
    return replace(run, created_utc="")


def by_wholes(paths: Sequence[Path], options: AnalyzeOptions = OF_SUMS) -> Run:
    """The run of the reports' records one by one."""

    def read(paths: Sequence[Path], order: Order) -> Iterable[Outcome]:
        return read_here(paths, replace(order, fold=None, questions=()))

    return told(analyze(paths, options, read=read))


def folded(paths: Sequence[Path]) -> list[bool]:
    return [isinstance(one, ReadReport) and one.work is not None for one in read_here(paths, SUMS_ONLY)]


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
def test_sums_and_answers_of_ranks_are_those_of_their_records(tmp_path: Path, scenario: Scenario) -> None:
    made = generate(Request(scenario=scenario, rank_count=3, step_count=2, layout=Layout.PER_RANK))
    paths = [export.write(tmp_path / name) for name, export in made.exports.items()]

    for options, order in ((OF_SUMS, SUMS_ONLY), (BY_THEMSELVES, ALONE)):
        assert told(analyze(paths, options)) == by_wholes(paths, options)
        found = [one for one in read_here(paths, order) if isinstance(one, ReadReport)]
        assert all(one.work is not None and (one.answers is not None) == bool(order.questions) for one in found)


@pytest.mark.parametrize("scenario", ["rooted_collectives", "pipeline_bubble", "tensor_parallel", "moe_skew"])
def test_waits_are_those_of_the_traces_with_payloads_on_clocks_of_their_own(tmp_path: Path, scenario: str) -> None:
    chosen = next(one for one in all_scenarios() if one.name == scenario)
    made = generate(
        Request(
            scenario=chosen,
            rank_count=4,
            step_count=4,
            layout=Layout.PER_RANK,
            includes_blobs=True,
            clock_error_ns=5_000_000,
        )
    )
    paths = [export.write(tmp_path / name) for name, export in made.exports.items()]

    run = told(analyze(paths, BY_THEMSELVES))

    assert run == by_wholes(paths, BY_THEMSELVES)
    assert any(row.bytes and row.wait_ns is not None for row in result_of(run, Collectives).collectives)


@pytest.mark.skipif(not MEGATRON[0].exists(), reason="the shared real traces are not beside this checkout")
def test_two_real_ranks_answer_as_they_do_together() -> None:
    run = told(analyze(MEGATRON, BY_THEMSELVES))

    assert run == by_wholes(MEGATRON, BY_THEMSELVES)
    assert result_of(run, RankWaits).rank_waits


@pytest.mark.parametrize("options", [OF_SUMS, BY_THEMSELVES], ids=["sums", "answers"])
def test_a_report_whose_gpu_another_one_saw_or_that_repeats_one_is_read_as_a_whole(
    tmp_path: Path, options: AnalyzeOptions
) -> None:
    """One computes from 10 to 40 ns, the other from 20 to 60: 50 ns in all. Of a third report there are two forms."""
    forms = every_form(tmp_path)
    paths = [forms["parquet"], ranked(tmp_path, 1), forms["sqlite"]]
    for rank, (start_ns, end_ns) in enumerate([(10, 40), (20, 60)]):
        made = Export().host("node").gpu(uuid="u0").cuda_device(pid=100 + rank, uuid="u0").session(duration_ns=100)
        made.kernel(start_ns, end_ns, "gemm", pid=100 + rank)
        paths.append(made.write(tmp_path / f"sharing{rank}.sqlite"))

    run = told(analyze(paths, options))

    assert run == by_wholes(paths, options)
    assert [report.name for report in run.reports] == [
        "rank0_pqtdir",
        "rank1.sqlite",
        "sharing0.sqlite",
        "sharing1.sqlite",
    ]
    *_, shared = result_of(run, GpuTime).gpus
    assert (shared.time.compute_only_ns, shared.work_ns) == (50, 70)


def test_sums_travel_between_processes_whatever_format_they_are_of(tmp_path: Path) -> None:
    forms = every_form(tmp_path)
    broken = tmp_path / "rank3.sqlite"
    broken.write_bytes(b"")
    paths = [forms["parquet"], ranked(tmp_path, 1), written(tmp_path, kernel(5, 1)), broken, ranked(tmp_path, 2)]

    run = told(analyze(paths, OF_SUMS, read=by_two_processes))

    assert run == by_wholes(paths)
    assert len(run.reports) == len(result_of(run, GpuTime).gpus) == 4
    assert [note.id for note in run.notes].count("report_left_out") == 1
    assert folded(paths) == [True, True, True, False, True]


def ranked(folder: Path, rank: int) -> Path:
    made = Export().host(f"node{rank}").session(utc_epoch_ns=1_700_000_000_000_000_000 + rank)
    return (
        made.kernel(10, 30 + rank, "gemm")
        .kernel(50, 60, "ncclDevKernel_AllReduce")
        .write(folder / f"rank{rank}.sqlite")
    )


def test_answers_travel_between_processes(tmp_path: Path) -> None:
    """Reports without calls, with an idle gap of 10 ns and more; where profilers differ all are read as wholes."""
    broken = tmp_path / "rank3.sqlite"
    broken.write_bytes(b"")
    alike = [ranked(tmp_path, 0), launched(tmp_path, 1), broken, ranked(tmp_path, 2)]

    run = told(analyze(alike, BY_THEMSELVES, read=by_two_processes))

    assert run == by_wholes(alike, BY_THEMSELVES)
    assert [row.device for row in result_of(run, Launches).launches] == ["r1/p100/d0"]
    assert result_of(run, IdleByCause).idle_causes[0].worst_gpu == "gpu1"
    mixed = [*alike, written(tmp_path, kernel(5, 1))]
    assert told(analyze(mixed, BY_THEMSELVES)) == by_wholes(mixed, BY_THEMSELVES)


def test_what_no_report_answers_is_left_out_for_the_reason_of_all(tmp_path: Path) -> None:
    """One report has markers without calls, the other neither: together they have markers, and there are calls."""
    marked = Export().host("node1").nvtx(0, 50, "step 1").nvtx(50, 90, "step 2").kernel(10, 20, "gemm")
    paths = [marked.write(tmp_path / "rank1.sqlite"), launched(tmp_path, 2)]

    assert told(analyze(paths, BY_THEMSELVES)) == by_wholes(paths, BY_THEMSELVES)


def launched(folder: Path, rank: int) -> Path:
    made = Export().host(f"node{rank}").session(utc_epoch_ns=1_700_000_000_000_000_000 + rank)
    for begin_ns in (0, 100_000):
        made.call(begin_ns, begin_ns + 10, "cudaLaunchKernel", correlation=1 + begin_ns)
        made.kernel(begin_ns + 20, begin_ns + 50, "gemm", correlation=1 + begin_ns)
    return made.write(folder / f"rank{rank}.sqlite")


def test_what_travels_does_not_grow_with_the_kernels(tmp_path: Path) -> None:
    """Kernels of three names last 1,000 to 1,099 ns: at most 300 durations, however many kernels there are."""
    drawn = random.Random(3)
    sizes = []
    for count in (4_000, 40_000):
        made = Export()
        for place in range(count):
            made.kernel(2_000 * place, 2_000 * place + 1_000 + drawn.randrange(100), f"kernel {place % 3}")
        found = read_packed(str(made.write(tmp_path / f"rank{count}.sqlite")), SUMS_ONLY)
        assert isinstance(found, bytes)
        sizes.append(len(found))

    assert sizes[1] < 1.2 * sizes[0] < 6_000


def test_durations_of_ranks_are_counted_together(tmp_path: Path) -> None:
    """Ten kernels a rank, of 10 and 20 ns: of 20 values, 13 of 10 and 7 of 20, the middle two are 10, p95 is 20."""
    paths = []
    for rank, short_count in enumerate((10, 3)):
        made = Export().host(f"node{rank}")
        for place in range(10):
            made.kernel(100 * place, 100 * place + (10 if place < short_count else 20), "gemm")
        paths.append(made.write(tmp_path / f"rank{rank}.sqlite"))

    [row] = result_of(analyze(paths, OF_SUMS), KernelSummary).kernels

    assert (row.count, row.gpu_count, row.total_ns, row.median_ns, row.p95_ns) == (20, 2, 270, 10.0, 20)


def test_where_records_may_repeat_each_other_the_report_stays_whole(tmp_path: Path) -> None:
    twice = Export().host("node0").kernel(10, 20, "gemm")
    twice.sql("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL")
    paths = [twice.write(tmp_path / "rank0.sqlite"), ranked(tmp_path, 1)]

    run = told(analyze(paths, OF_SUMS))

    assert run == by_wholes(paths)
    assert "repeated_records" in {note.id for note in run.notes}
    assert folded(paths) == [False, True]


def test_ranks_that_differ_in_what_stays_where_they_were_read_are_no_copies(tmp_path: Path) -> None:
    """Of both the same collective travels; one computes once besides, the other twice."""
    options = AnalyzeOptions(only=("collectives",))
    paths = []
    for rank, ends_ns in enumerate([(10,), (10, 30)]):
        made = Export().host("node").session(utc_epoch_ns=1_700_000_000_000_000_000, duration_ns=1_000)
        made.call(40, 45, "cudaLaunchKernel", correlation=1).kernel(50, 90, ALL_REDUCE, correlation=1)
        for place, end_ns in enumerate(ends_ns, start=2):
            made.call(end_ns - 9, end_ns - 8, "cudaLaunchKernel", correlation=place)
            made.kernel(end_ns - 5, end_ns, "gemm", correlation=place)
        paths.append(made.write(tmp_path / f"rank{rank}.sqlite"))

    run = told(analyze(paths, options))

    assert (run, len(run.reports)) == (by_wholes(paths, options), 2)


def test_what_is_doubted_of_a_report_is_said_once(tmp_path: Path) -> None:
    options = AnalyzeOptions(only=("launches",))
    paths = [launched(tmp_path, 0), launched(tmp_path, 1)]
    for path in paths:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE Others AS SELECT id, value FROM StringIds")
            connection.execute("INSERT INTO Others SELECT id, 'other ' || value FROM StringIds")
            connection.execute("DROP TABLE StringIds")
            connection.execute("ALTER TABLE Others RENAME TO StringIds")
            connection.commit()

    run = told(analyze(paths, options))

    assert run == by_wholes(paths, options)
    assert [note.id for note in run.notes].count("ambiguous_names") == len(paths)
