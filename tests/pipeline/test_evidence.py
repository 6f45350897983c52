"""Evidence from the command line to the report: logs, tables and exports as JSON beside a trace."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.collectives import Collectives
from nsysan.analysis.nccl_logs import NcclLogs, NetworkUse
from nsysan.analysis.nccl_tests import NcclTests
from nsysan.analysis.training_logs import TrainingLogs
from nsysan.ingest.evidence.reading import read_evidence
from nsysan.model.errors import InputError
from nsysan.model.findings import Finding
from nsysan.model.verdicts import BottleneckClass, Severity
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.report.formats.text import render_text
from nsysan.synth.export import Export
from tests.analysis.nccl_traces import ALL_REDUCE, DOMAIN, MS
from tests.ingest.test_event_json import event
from tests.runs import analyze_exports, result_of

EVIDENCE = Path(__file__).parents[3] / "shared" / "evidence"
REAL_TRACE = EVIDENCE.parent / "traces" / "alltoall-2xH100-before.sqlite"
TWO_NODES = "a:1:2 [0] NCCL INFO comm 0xa rank 0 nRanks 2 nNodes 2 localRanks 1 localRank 0 MNNVL 0"
# the ranks of both processes stand in the lines that make the communicator
MADE = "{}:1:2 [0] NCCL INFO ncclCommInitRank comm 0xa rank {} nranks 2 cudaDev 0 busId 5 commId 0x13c - Init COMPLETE"


def with_evidence(folder: Path, *lines: str, keep_identity: bool = False) -> tuple[NcclLogs, list[Finding]]:
    (folder / "nccl.log").write_text("\n".join(lines) + "\n")
    options = AnalyzeOptions(evidence=(folder / "nccl.log",), keep_identity=keep_identity)
    run = analyze_exports(folder, Export().kernel(0, 9, "gemm"), options=options)
    return result_of(run, NcclLogs), [one for one in run.findings if one.id == "slow_transport"]


@pytest.mark.parametrize("keep_identity", [False, True])
def test_mixed_networks_are_a_finding_that_names_rank_and_line(tmp_path: Path, *, keep_identity: bool) -> None:
    # C30: of two ranks one uses IB and one fell back to sockets
    logs, findings = with_evidence(
        tmp_path,
        TWO_NODES,
        "a:1:2 [0] NCCL INFO Using network IB",
        MADE.format("a", 0),
        "b:1:2 [0] NCCL INFO Using network Socket",
        MADE.format("b", 1),
        keep_identity=keep_identity,
    )

    hosts = ("a", "b") if keep_identity else ("host 1", "host 2")
    assert logs.nccl_logs[0].networks == (
        NetworkUse("IB", 1, (0,), hosts[:1], 2),
        NetworkUse("Socket", 1, (1,), hosts[1:], 4),
    )
    [finding] = findings
    assert (finding.bottleneck_class, finding.severity) == (BottleneckClass.COMMUNICATION, Severity.WARNING)
    assert finding.title == "Some ranks reach others over sockets, the rest do not"
    assert [one.sentence for one in finding.evidence] == [
        f"nccl.log, line 4: NCCL uses network Socket for rank 1 on {hosts[1]}.",
        f"nccl.log, line 2: NCCL uses network IB for rank 0 on {hosts[0]}.",
    ]


@pytest.mark.parametrize(
    ("lines", "severities"),
    [
        (["a:1:2 [0] NCCL INFO Using network Socket", TWO_NODES], [Severity.WARNING]),
        (["a:1:2 [0] NCCL INFO Using network Socket", TWO_NODES.replace("nNodes 2", "nNodes 1")], []),
        (["a:1:2 [0] NCCL INFO Using network IB", TWO_NODES], []),
        (
            ["a:1:2 [0] NCCL INFO GPU Direct RDMA Disabled for GPU 2 / HCA 0 (distance 9 > 4)", TWO_NODES],
            [Severity.INFO],
        ),
    ],
    ids=["sockets between nodes", "sockets that one node does not use", "InfiniBand", "through host memory"],
)
def test_when_a_transport_is_a_finding(tmp_path: Path, lines: list[str], severities: list[Severity]) -> None:
    _, findings = with_evidence(tmp_path, *lines)

    assert [finding.severity for finding in findings] == severities


def test_settings_that_name_machines_stay_out(tmp_path: Path) -> None:
    shown = {
        "NCCL_IB_DISABLE": "1",
        "NCCL_ALGO": "Ring,Tree",
        "NCCL_COMM_ID": "10.0.0.1:5",
        "NCCL_TOPO_FILE": "/home/me/t",
    }

    logs, _ = with_evidence(
        tmp_path, *(f"a:1:2 [0] NCCL INFO {name} set by environment to {value}." for name, value in shown.items())
    )

    kept = {"NCCL_IB_DISABLE": "1", "NCCL_ALGO": "Ring,Tree", "NCCL_COMM_ID": None, "NCCL_TOPO_FILE": None}
    assert logs.nccl_logs[0].settings == kept


def test_an_export_as_json_tells_what_the_other_lacks(tmp_path: Path) -> None:
    def report(pid: int) -> Export:
        export = Export("3.7").nvtx_domain(DOMAIN, "NCCL", pid=pid)
        export.nvtx(MS, MS + 9, "ncclAllReduce", pid=pid, domain=DOMAIN)
        export.call(MS + 1, MS + 5, "cudaLaunchKernelExC_v11060", pid=pid, correlation=1)
        return export.kernel(2 * MS, 3 * MS, ALL_REDUCE, pid=pid, stream=9, correlation=1)

    lines = [event(5, struct.pack("<QQi4x", 9, 512, 0), MS, 1 << 48 | pid << 24 | pid) for pid in (100, 101)]
    for place, line in enumerate(lines):
        (tmp_path / f"{place}.json").write_text('{"data":["strings"]}\n' + line + "\n")
    (tmp_path / "other.json").write_text(event(4, struct.pack("<QQ", 9, 64)) + "\n")
    options = AnalyzeOptions(evidence=(tmp_path / "0.json", tmp_path / "1.json", tmp_path / "other.json"))

    run = analyze_exports(tmp_path, report(100), report(101), options=options)

    [row] = result_of(run, Collectives).collectives
    assert (row.kind, row.communicator, row.bytes, row.complete_count) == ("all_reduce", "0x0000000000000009", 512, 1)
    assert [note.sentence for note in run.notes if note.id.startswith("payloads")] == [
        "0.json is an export of the same report as rank0.sqlite, and tells what is attached to 1 call of NCCL in it.",
        "1.json is an export of the same report as rank1.sqlite, and tells what is attached to 1 call of NCCL in it.",
        "other.json tells of no call in the reports given: it is an export of another one, or has no payloads.",
    ]


@pytest.mark.parametrize(
    ("content", "why"),
    [(b"", "is empty"), (b"epoch 1 loss 2.0\n", "is no evidence that nsysan knows"), (None, "is no file")],
)
def test_what_is_no_evidence_is_refused(tmp_path: Path, content: bytes | None, why: str) -> None:
    path = tmp_path / "evidence"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)

    with pytest.raises(InputError, match=why) as caught:
        read_evidence([path])
    assert caught.value.hint


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_text_of_two_bytes_a_character_is_named(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "jobs.txt").write_bytes("JobID|Elapsed|State\n9|00:01:00|COMPLETED\n".encode(encoding))

    with pytest.raises(InputError, match="is text in UTF-16") as caught:
        read_evidence([tmp_path / "jobs.txt"])
    assert "iconv -f UTF-16" in caught.value.hint


def test_one_gpu_of_a_job_says_why_figures_are_null(tmp_path: Path) -> None:
    export = Export()
    for device in (0, 1):
        export.kernel(0, 9 * MS, ALL_REDUCE, device=device)

    run = analyze_exports(tmp_path, export, options=AnalyzeOptions(gpu="0"))

    [note] = [note for note in run.notes if note.id == "ranks_left_out"]
    assert note.sentence == (
        "--gpu keeps 1 of 2 ranks: waits are those of all, but why a rank is late, and the share that ranks wait, take "
        "the work of the others and are null."
    )
    assert result_of(run, Baseline).baseline.unknown["communication_wait_frac"] == (
        "needs all ranks: --gpu leaves 1 of 2 out"
    )


@pytest.mark.skipif(not REAL_TRACE.exists(), reason="the shared real traces are not beside this checkout")
def test_a_real_log_and_table_beside_a_real_trace() -> None:
    evidence = tuple(EVIDENCE / name for name in ("nccl-info-8xA800-2.27.log", "nccl-tests-2x8-H100.txt"))

    run = analyze([REAL_TRACE], AnalyzeOptions(evidence=evidence))

    [log] = result_of(run, NcclLogs).nccl_logs
    assert [(one.network, one.process_count, one.ranks) for one in log.networks] == [("IB", 8, tuple(range(8)))]
    assert (log.adapters, log.process_count, log.call_count) == ({"RoCE": 8}, 0, 0)
    assert [(test.kind, test.kind_is_inferred, test.rank_count) for test in result_of(run, NcclTests).nccl_tests] == [
        ("all_reduce", False, 8),
        ("all_reduce", True, 16),
    ]
    assert not [finding for finding in run.findings if finding.id == "slow_transport"]
    text = render_text(run)
    assert "NCCL 2.27.3+cuda12.9 names IB (8 ranks) on RoCE as its network" in text
    assert "nccl-tests reached up to 338.820 GB/s" in text
    assert json.dumps(run.options["evidence"]) == '["nccl-info-8xA800-2.27.log", "nccl-tests-2x8-H100.txt"]'


def test_files_of_one_name_are_told_apart_and_copies_count_once(tmp_path: Path) -> None:
    """Three folders have a ``train.log``, that of the last is a copy of the first."""
    folders = [tmp_path / name for name in ("before", "after", "copy")]
    for folder, step_ms in zip(folders, (10, 20, 10), strict=True):
        folder.mkdir()
        lines = [f"iteration {step}/ 9 | elapsed time per iteration (ms): {step_ms} |\n" for step in range(1, 6)]
        (folder / "train.log").write_text("".join(lines))
    evidence = tuple(folder / "train.log" for folder in folders)

    run = analyze_exports(tmp_path, Export().kernel(0, 9_000, "gemm"), options=AnalyzeOptions(evidence=evidence))

    logs = result_of(run, TrainingLogs).training_logs
    assert [(log.name, log.step_ns) for log in logs] == [("train.log (1)", 10e6), ("train.log (2)", 20e6)]
    assert [note.sentence for note in run.notes if note.id == "same_content"] == [
        "train.log and train.log have the same content: it is counted once."
    ]
