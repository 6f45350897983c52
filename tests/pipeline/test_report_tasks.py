"""One report is one task: broken reports and lost workers cost themselves alone, here and on a cluster."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from nsysan.analysis.collectives import Collectives
from nsysan.model.errors import InputError, MissingToolError, UsageError
from nsysan.pipeline import cluster as cluster_reading
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.cluster import reading_on
from nsysan.pipeline.local_workers import read_by_processes, read_locally
from nsysan.pipeline.report_tasks import Order, Outcome, read_packed
from nsysan.synth.export import Export
from tests.analysis.nccl_traces import ALL_REDUCE, MS
from tests.runs import result_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from multiprocessing.connection import Connection

    from nsysan.model.run import Run


OPTIONS = [
    pytest.param(AnalyzeOptions(), id="traces travel"),
    pytest.param(AnalyzeOptions(only=("partition", "gaps", "kernels")), id="sums travel"),
    pytest.param(AnalyzeOptions(only=("idle_causes", "steps")), id="answers travel"),
]


def reports(folder: Path, count: int) -> list[Path]:
    """Each rank reduces from its rank on, in ms, up to 20 ms."""
    return [
        Export().kernel(rank * MS, 20 * MS, ALL_REDUCE, pid=100 + rank).write(folder / f"rank{rank}.sqlite")
        for rank in range(count)
    ]


def without_time(run: Run) -> Run:
    return replace(run, created_utc="")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="a Dask cluster needs the extra cluster")
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as found:
        yield found


def test_a_broken_report_costs_itself_and_is_named(tmp_path: Path) -> None:
    paths = reports(tmp_path, 3)
    paths[1].write_bytes(b"")

    run = analyze(paths, AnalyzeOptions())

    assert [report.name for report in run.reports] == ["rank0.sqlite", "rank2.sqlite"]
    [note] = [note for note in run.notes if note.id == "report_left_out"]
    assert note.sentence.startswith("rank1.sqlite is left out, with its ranks: ")
    # a rank is missing, so nothing is said of who waited
    found = result_of(run, Collectives)
    assert (found.world_size, found.collectives[0].wait_ns) == (3, None)


def test_where_no_report_can_be_read_or_one_is_not_there_the_error_stands(tmp_path: Path) -> None:
    paths = reports(tmp_path, 2)
    (tmp_path / "broken.sqlite").write_bytes(b"")

    with pytest.raises(InputError):
        analyze([tmp_path / "broken.sqlite"], AnalyzeOptions())
    with pytest.raises(InputError, match="not there"):
        analyze([*paths, tmp_path / "not there.sqlite"], AnalyzeOptions())


def by_two_processes(paths: Sequence[Path], options: Order) -> Iterator[Outcome]:
    return read_by_processes(paths, options, 2)


@pytest.mark.parametrize("options", OPTIONS)
def test_what_processes_of_this_machine_read_gives_the_same_run(tmp_path: Path, options: AnalyzeOptions) -> None:
    paths = reports(tmp_path, 5)
    paths[3].write_bytes(b"")

    there = analyze(paths, options, read=by_two_processes)

    assert without_time(there) == without_time(analyze(paths, options))
    assert [note.sentence.partition(" ")[0] for note in there.notes if note.id == "report_left_out"] == ["rank3.sqlite"]


@pytest.mark.parametrize("options", OPTIONS)
def test_a_report_that_kills_its_process_costs_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: AnalyzeOptions
) -> None:
    paths = reports(tmp_path, 4)
    monkeypatch.setattr("nsysan.pipeline.local_workers._serve", _serve_or_die)

    run = analyze(paths, options, read=by_two_processes)

    assert [report.name for report in run.reports] == [f"rank{rank}.sqlite" for rank in (0, 1, 3)]
    [note] = [note for note in run.notes if note.id == "report_left_out"]
    assert note.sentence == "rank2.sqlite is left out, with its ranks: the process that read it was lost"


def test_a_few_small_reports_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsysan.pipeline.local_workers._core_count", lambda: 8)
    monkeypatch.setattr("nsysan.pipeline.local_workers._Reader", None)

    assert len(analyze(reports(tmp_path, 4), AnalyzeOptions(), read=read_locally).reports) == 4


@pytest.mark.parametrize(
    ("reports", "core_count", "process_count"),
    [
        (("rank.sqlite", 150), 8, 0),
        # 256 exports take 15 ms each, 3.84 s
        (("rank.sqlite", 256), 8, 8),
        (("rank.sqlite", 256), 1, 0),
        # what has to be exported first takes half a second each
        (("rank.nsys-rep", 6), 8, 6),
        (("rank.nsys-rep", 1), 8, 0),
    ],
)
def test_processes_are_started_where_reading_takes_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reports: tuple[str, int], core_count: int, process_count: int
) -> None:
    name, count = reports
    started: list[int] = []
    monkeypatch.setattr("nsysan.pipeline.local_workers._core_count", lambda: core_count)
    monkeypatch.setattr("nsysan.pipeline.local_workers.read_by_processes", lambda *told: started.append(told[2]))
    path = tmp_path / name
    path.touch()

    read_locally([path] * count, Order())

    assert sum(started) == process_count


@pytest.mark.parametrize("options", OPTIONS)
def test_what_workers_of_a_cluster_read_gives_the_same_run(
    tmp_path: Path, cluster: Any, options: AnalyzeOptions
) -> None:
    paths = reports(tmp_path, 8)
    paths[5].write_bytes(b"")

    there = analyze(paths, options, read=reading_on(cluster.scheduler_address))

    assert without_time(there) == without_time(analyze(paths, options))
    assert [note.sentence.partition(" ")[0] for note in there.notes if note.id == "report_left_out"] == ["rank5.sqlite"]


def _serve_or_die(orders: Connection, options: Order) -> None:
    while True:
        orders.send(_read_or_die(orders.recv(), options))


def _read_or_die(path: str, options: Order) -> bytes | tuple[str, str]:
    """One report kills whoever reads it."""
    if path.endswith("rank2.sqlite"):
        os.kill(os.getpid(), signal.SIGKILL)
    return read_packed(path, options)


def _read_or_die_once(path: str, options: Order) -> bytes | tuple[str, str]:
    """The first worker that reads one of the reports is killed in the middle of it."""
    killed = Path(path).with_suffix(".killed")
    if path.endswith("rank2.sqlite") and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return read_packed(path, options)


def test_a_worker_killed_in_the_middle_costs_nothing(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsysan.pipeline.cluster.read_packed", _read_or_die_once)
    paths = reports(tmp_path, 6)

    run = analyze(paths, AnalyzeOptions(), read=reading_on(cluster.scheduler_address))

    assert (tmp_path / "rank2.killed").exists()
    assert without_time(run) == without_time(analyze(paths, AnalyzeOptions()))


@pytest.mark.parametrize("allowed_failures", [3, 0], ids=["as usual", "one loss condemns what waits for the worker"])
def test_a_report_that_kills_its_workers_costs_itself(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch, allowed_failures: int
) -> None:
    monkeypatch.setattr("nsysan.pipeline.cluster.read_packed", _read_or_die)
    monkeypatch.setattr(cluster.scheduler, "allowed_failures", allowed_failures)
    paths = reports(tmp_path, 6)

    run = analyze(paths, AnalyzeOptions(), read=reading_on(cluster.scheduler_address))

    assert [report.name for report in run.reports] == [f"rank{rank}.sqlite" for rank in (0, 1, 3, 4, 5)]
    [note] = [note for note in run.notes if note.id == "report_left_out"]
    assert note.sentence == "rank2.sqlite is left out, with its ranks: the workers that read it were lost"


def _fail_at_one(path: str, options: Order) -> bytes | tuple[str, str]:
    if path.endswith("rank2.sqlite"):
        raise MemoryError("no room for 2 GB")
    return read_packed(path, options)


def test_what_fails_on_a_worker_costs_that_report(
    tmp_path: Path, cluster: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nsysan.pipeline.cluster.read_packed", _fail_at_one)

    run = analyze(reports(tmp_path, 4), AnalyzeOptions(), read=reading_on(cluster.scheduler_address))

    assert [report.name for report in run.reports] == [f"rank{rank}.sqlite" for rank in (0, 1, 3)]
    [note] = [note for note in run.notes if note.id == "report_left_out"]
    assert note.sentence == (
        "rank2.sqlite is left out, with its ranks: the worker that read it failed (MemoryError: no room for 2 GB)"
    )


def test_a_cluster_without_workers_is_a_plain_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="a Dask cluster needs the extra cluster")
    monkeypatch.setattr("nsysan.pipeline.cluster._PATIENCE", "1s")

    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as empty,
        pytest.raises(UsageError, match="has no worker"),
    ):
        analyze(reports(tmp_path, 2), AnalyzeOptions(), read=reading_on(empty.scheduler_address))


def test_a_scheduler_that_ends_meanwhile_is_a_plain_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="a Dask cluster needs the extra cluster")
    ending = distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50)
    wait = cluster_reading._wait

    def wait_without_scheduler(client: Any, future: Any) -> None:
        ending.close()
        wait(client, future)

    monkeypatch.setattr(cluster_reading, "_wait", wait_without_scheduler)

    with pytest.raises(MissingToolError, match="scheduler was lost"):
        analyze(reports(tmp_path, 2), AnalyzeOptions(), read=reading_on(ending.scheduler_address))


def test_no_scheduler_is_a_plain_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsysan.pipeline.cluster._PATIENCE", "1s")

    with pytest.raises(UsageError, match=r"No Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        analyze(reports(tmp_path, 2), AnalyzeOptions(), read=reading_on("tcp://127.0.0.1:9"))
