"""One capture in several forms counts once, and a warning says so; ranks that look alike stay ranks."""

from __future__ import annotations

import gzip
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.run import Run
from nsysan.model.tables import ABSENT, Kernels
from nsysan.model.trace import Trace
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.report_tasks import ReadReport
from nsysan.pipeline.same_capture import is_same_capture, without_repeats
from nsysan.synth.export import Export
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import Request
from nsysan.synth.scenario import all_scenarios
from tests.ingest.nsys_stand_in import REPORT_HEAD, StandIn, copies
from tests.ingest.table_folders import as_folder
from tests.ingest.torch_traces import annotation, event, kernel, written
from tests.runs import result_of


def export() -> Export:
    made = Export().gpu(uuid="u0").host("node1").kernel(10, 20, "gemm").kernel(30, 40, "softmax", stream=9)
    return (
        made.copy(20, 30, 64).nvtx(0, 50, "step").nvtx(5, 45, "forward", registered=True).call(5, 9, "cudaLaunchKernel")
    )


def read_report(path: Path) -> ReadReport:
    return ReadReport(read_trace(path, ReadOptions()), None)


def every_form(folder: Path) -> dict[str, Path]:
    """One capture as the export, a report, and folders of both kinds."""
    sqlite = export().write(folder / "rank0.sqlite")
    report = folder / "rank0.nsys-rep"
    report.write_bytes(REPORT_HEAD)
    return {
        "sqlite": sqlite,
        "report": report,
        "parquet": as_folder(sqlite, folder / "rank0_pqtdir", ".parquet"),
        "arrow": as_folder(sqlite, folder / "rank0_arwdir", ".arrow"),
    }


def analyzed(tmp_path: Path, *paths: Path) -> Run:
    (tmp_path / "nsys").mkdir()
    nsys = StandIn(tmp_path / "nsys", copies(tmp_path / "rank0.sqlite"))
    return analyze(paths, AnalyzeOptions(nsys=str(nsys.executable)))


def test_every_form_of_one_capture_is_one_rank(tmp_path: Path) -> None:
    run = analyzed(tmp_path, *every_form(tmp_path).values())

    assert [report.name for report in run.reports] == ["rank0.sqlite"]
    assert [note.sentence for note in run.notes if note.id == "same_content"] == [
        f"{other} and rank0.sqlite hold the same capture: it is counted once."
        for other in ("rank0.nsys-rep", "rank0_pqtdir", "rank0_arwdir")
    ]
    assert len(result_of(run, GpuTime).devices) == 1


@pytest.mark.parametrize("first", ["parquet", "sqlite"])
def test_of_a_whole_and_a_partial_form_the_whole_counts(tmp_path: Path, first: str) -> None:
    paths = every_form(tmp_path)
    for table in ("NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME"):
        (paths["parquet"] / f"{table}.parquet").unlink()

    run = analyzed(tmp_path, *sorted((paths["parquet"], paths["sqlite"]), key=lambda path: path != paths[first]))

    assert [report.name for report in run.reports] == ["rank0.sqlite"]


def test_packed_and_unpacked_traces_of_pytorch(tmp_path: Path) -> None:
    path = written(tmp_path, annotation(1, 9), kernel(5, 1), baseTimeNanoseconds=1_700_000_000_000_000_000)
    packed = tmp_path / "rank1.pt.trace.json.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))

    run = analyze([path, packed], AnalyzeOptions())

    assert [report.name for report in run.reports] == ["rank0.pt.trace.json"]


OTHERS = {
    "another host": export().host("node2"),
    "another begin": export().session(utc_epoch_ns=1_700_000_000_000_000_001),
    "another length": export().session(duration_ns=77),
    "a record more": export().kernel(50, 60, "gemm"),
    "another time": export().sql('UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET "end" = 41 WHERE start = 30'),
    "another process": export().sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET globalPid = globalPid + (1 << 24)"),
    "another stream": export().sql("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET streamId = 8"),
    "another name": export().sql("UPDATE StringIds SET value = 'other' WHERE value = 'softmax'"),
    "another GPU": export().sql("UPDATE TARGET_INFO_GPU SET uuid = 'u1'"),
    "no begin": export().sql("DROP TABLE TARGET_INFO_SESSION_START_TIME"),
}


@pytest.mark.parametrize("difference", OTHERS)
def test_what_differs_in_anything_is_another_rank(tmp_path: Path, difference: str) -> None:
    paths = [export().write(tmp_path / "rank0.sqlite"), OTHERS[difference].write(tmp_path / "rank1.sqlite")]

    run = analyze(paths, AnalyzeOptions())

    assert [report.name for report in run.reports] == ["rank0.sqlite", "rank1.sqlite"]
    assert "same_content" not in {note.id for note in run.notes}


def test_nothing_recorded_is_no_evidence(tmp_path: Path) -> None:
    reports = [
        read_report(Export().environment("RANK", str(rank)).write(tmp_path / f"rank{rank}.sqlite")) for rank in (0, 1)
    ]

    assert without_repeats(reports) == (reports, [])


def test_ranks_of_pytorch_that_did_the_same_at_the_same_time(tmp_path: Path) -> None:
    reports = []
    for rank in (0, 1):
        launch = event("cuda_runtime", "cudaLaunchKernel", 1, 1, thread=(42, 42), correlation=1)
        job = {"baseTimeNanoseconds": 1_700_000_000_000_000_000, "distributedInfo": {"rank": rank, "world_size": 2}}
        reports.append(read_report(written(tmp_path, launch, kernel(5, 1), **job)))

    assert without_repeats(reports) == (reports, [])


@pytest.mark.parametrize("scenario", all_scenarios(), ids=lambda scenario: scenario.name)
def test_simulated_ranks_are_never_one(tmp_path: Path, scenario: object) -> None:
    made = generate(Request(scenario=scenario, rank_count=3, step_count=2, layout=Layout.PER_RANK))  # type: ignore[arg-type]
    reports = [read_report(written_.write(tmp_path / name)) for name, written_ in made.exports.items()]

    assert without_repeats(reports) == (reports, [])


ROWS = st.lists(st.tuples(*[st.integers(0, 2)] * 3), max_size=5)


def _trace(original: Trace, rows: list[tuple[int, int, int]], strings: dict[int, str]) -> Trace:
    """The trace with these kernels: start, stream and name."""
    columns = {name: np.zeros(len(rows), np.int64) for name in Kernels.__struct_fields__}
    for place, name in enumerate(("start_ns", "stream_id", "name_id")):
        columns[name] = np.array([row[place] for row in rows], np.int64)
    columns["correlation_id"] = np.full(len(rows), ABSENT)
    return replace(original, kernels=Kernels(**columns), strings=strings)


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    """A trace without records."""
    return read_trace(Export().write(tmp_path_factory.mktemp("empty") / "rank0.sqlite"), ReadOptions())


@settings(deadline=None)
@given(one=ROWS, other=ROWS, shuffles=st.booleans())
def test_records_are_the_same_as_multisets_of_named_rows(
    empty: Trace, one: list[tuple[int, int, int]], other: list[tuple[int, int, int]], *, shuffles: bool
) -> None:
    other = one[::-1] if shuffles else other
    # the second form counts its strings the other way round
    strings, reversed_strings = dict(enumerate("abc")), dict(enumerate("cba"))
    renamed = [(start, stream, 2 - name) for start, stream, name in other]

    found = is_same_capture(_trace(empty, one, strings), _trace(empty, renamed, reversed_strings))

    assert found == (Counter(one) == Counter(other) and bool(one))
