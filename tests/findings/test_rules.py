"""The rules about the trace itself, and the contract every rule keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.gpu_time import GpuTime
from nsysan.attribution.window import WindowChoice
from nsysan.findings.registry import Rule, rules
from nsysan.model.findings import ClassVerdict, Diagnosis, Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.verdicts import BottleneckClass, ClassState, Severity
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.result_types import result_types
from nsysan.synth.export import Export
from tests.ingest.training_lines import timer
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

GEMM = "ampere_sgemm_128x64_tn"


@pytest.mark.parametrize("names", [("ncclKernel_AllReduce_RING_LL_Sum_float",), ("allreduce_fusion_kernel(int)",)])
def test_two_gpus_that_communicate_are_no_finding(tmp_path: Path, names: tuple[str]) -> None:
    export = Export().kernel(0, 10, GEMM).kernel(0, 10, GEMM, device=1).kernel(5, 20, *names)

    assert analyze_exports(tmp_path, export).findings == ()


def test_two_gpus_without_communication_are_a_warning(tmp_path: Path) -> None:
    # C23: a renamed library must not look like a job that never communicates
    export = Export().kernel(0, 10, GEMM).kernel(0, 10, GEMM, device=1)

    assert analyze_exports(tmp_path, export).findings == (
        Finding(
            id="no_communication",
            bottleneck_class=None,
            cause=None,
            severity=Severity.WARNING,
            title="2 GPUs, but no communication between them was recognised",
            recoverable_ns=None,
            evidence=(
                Evidence("No kernel or copy in the windows belongs to a known communication family.", "gpu_time"),
            ),
            advice=("If these GPUs do train together, look for their collectives among the unclassified kernels.",),
        ),
    )


@pytest.mark.parametrize(
    ("own_ns", "found"),
    [
        (1, []),
        (2, [(Severity.INFO, "2.0 % of kernel time has no known class and counts as compute")]),
        (50, [(Severity.WARNING, "50.0 % of kernel time has no known class and counts as compute")]),
    ],
)
def test_unclassified_kernels_matter_by_their_share(
    tmp_path: Path, own_ns: int, found: list[tuple[Severity, str]]
) -> None:
    export = Export().kernel(0, 100 - own_ns, GEMM).kernel(100 - own_ns, 100, "my_kernel")  # C37

    findings = analyze_exports(tmp_path, export).findings

    assert [(finding.severity, finding.title) for finding in findings] == found


@pytest.mark.parametrize("graph_ns", [1, 95])
def test_graphs_recorded_whole_ask_for_node_tracing(tmp_path: Path, graph_ns: int) -> None:
    export = Export().graph(0, graph_ns).kernel(graph_ns, 100, GEMM)

    (finding,) = analyze_exports(tmp_path, export).findings

    assert (finding.id, finding.severity) == ("opaque_graphs", Severity.INFO)
    assert "--cuda-graph-trace=node" in finding.advice[0]  # C51


@pytest.mark.parametrize(("schema", "unseen"), [("3.7", 2), ("3.25", 0)])
def test_graphs_that_left_no_record_are_not_idle_time(tmp_path: Path, schema: str, unseen: int) -> None:
    # T8: nsys 2023.4 has no table for whole graphs; two launches, each a runtime call and the driver call it makes
    export = Export(schema).kernel(0, 10, GEMM, correlation=1).kernel(95, 100, GEMM, correlation=2)
    for correlation in (7, 8):
        start_ns = 10 * correlation
        export.call(start_ns, start_ns + 2, "cudaGraphLaunch_v10000", correlation=correlation)
        export.call(start_ns, start_ns + 1, "cuGraphLaunch", correlation=correlation, event_class=1)
        if not unseen:
            export.graph(start_ns + 2, start_ns + 9, correlation=correlation)
    # the same ids in another process answer nothing
    export.kernel(90, 100, GEMM, pid=200, correlation=7).kernel(90, 100, GEMM, pid=200, correlation=8)

    run = analyze_exports(tmp_path, export)

    findings = [finding for finding in run.findings if finding.id == "unseen_graphs"]
    assert [finding.title for finding in findings] == (
        ["2 CUDA graph launches left no record of what ran: idle time may have been busy"] if unseen else []
    )
    job = result_of(run, GpuTime).job
    assert job.unseen_graph_launch_count == unseen
    assert result_of(run, Baseline).baseline.compute_busy_frac is None


def test_only_graphs_of_the_chosen_gpus_and_window_matter(tmp_path: Path) -> None:
    export = Export("3.7").kernel(0, 50, GEMM, correlation=1).kernel(0, 50, GEMM, pid=200, correlation=2)
    export.kernel(2000, 3000, GEMM, correlation=3).call(10, 12, "cudaGraphLaunch", correlation=9)
    path = export.write(tmp_path / "rank0.sqlite")

    def count(**choice: Any) -> int | None:
        return result_of(analyze([path], AnalyzeOptions(**choice)), GpuTime).job.unseen_graph_launch_count

    assert (count(), count(gpu="gpu0"), count(gpu="gpu1")) == (1, 1, 0)
    assert count(window=WindowChoice(from_ns=1000)) == 0


def test_work_that_was_all_in_unrecorded_graphs_is_not_a_missing_recording(tmp_path: Path) -> None:
    run = analyze_exports(tmp_path, Export("3.7").call(5, 6, "cudaGraphLaunch", correlation=3))

    assert run.results.get(GpuTime) == Skipped(
        "gpu_time",
        "1 CUDA graph launch left no record of what ran, and there is no other GPU work",
        "Record with --cuda-graph-trace=node, or export with a newer nsys.",
    )


def test_left_out_records_are_counted_over_all_devices(tmp_path: Path) -> None:
    export = Export().kernel(1, 10, GEMM).kernel(0, 0, GEMM).kernel(9, 3, GEMM).kernel(0, 0, GEMM)

    missing, finding = analyze_exports(tmp_path, export).findings

    assert (finding.id, missing.id) == ("excluded_records", "missing_records")
    assert finding.title == "3 GPU records left out"
    assert finding.evidence == (Evidence("Left out: 1 negative length, 2 without time.", "gpu_time"),)


def test_without_calls_and_ceilings_only_communication_can_be_judged(tmp_path: Path) -> None:
    diagnosis = analyze_exports(tmp_path, Export().kernel(0, 10, GEMM)).diagnosis

    states = {one: verdict.state for one, verdict in diagnosis.classes.items()}
    assert states == {
        one: ClassState.OK if one is BottleneckClass.COMMUNICATION else ClassState.UNKNOWN for one in BottleneckClass
    }
    assert diagnosis.headline is None
    assert diagnosis.why == (
        "No cause costs 2.0 % of the window or more. How fast GEMMs are against a measured ceiling is not known, "
        "so computing itself may be slow."
    )


def test_without_gpu_work_there_is_no_verdict(tmp_path: Path) -> None:
    diagnosis = analyze_exports(tmp_path, Export().call(0, 10, "cudaFree")).diagnosis

    unknown = ClassVerdict(ClassState.UNKNOWN, None, None)
    assert diagnosis == Diagnosis(
        None, "No verdict: the trace holds no GPU work.", dict.fromkeys(BottleneckClass, unknown)
    )


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.id)
def test_every_rule_is_silent_without_results(rule: Rule) -> None:
    assert list(rule.find(ResultSet({}))) == []


def test_evidence_names_results_that_exist(tmp_path: Path) -> None:
    export = Export().kernel(0, 0, GEMM).graph(0, 50).kernel(50, 100, "mine").kernel(0, 9, GEMM, device=1)
    export.copy(0, 1000, 10**9).call(0, 1, "cudaGraphLaunch", correlation=99)
    export.call(2, 3, "cudaGraphConditionalHandleCreate")
    for begin in range(2_000, 2_100, 20):
        export.nvtx(begin, begin + 19, f"step {begin // 20}").call(begin + 9, begin + 12, "cudaGraphInstantiate")
        export.call(begin, begin + 1, "cudaLaunchKernel", correlation=begin)
        export.kernel(begin + 2, begin + 8, GEMM, correlation=begin)

    log = "a:1:2 [0] NCCL INFO Using network Socket\na:1:2 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[0] via NET/Socket/0\n"
    (tmp_path / "nccl.log").write_text(log)
    (tmp_path / "train.log").write_text("".join(timer(step, step, 1e-9) for step in range(3)))
    (tmp_path / "dmon.txt").write_text("# gpu sm pclk\n0 99 1755\n1 99 1300\n")
    evidence = (tmp_path / "nccl.log", tmp_path / "train.log", tmp_path / "dmon.txt")

    findings = analyze_exports(tmp_path, export, options=AnalyzeOptions(evidence=evidence)).findings

    about_trace = {
        "conditional_graphs",
        "excluded_records",
        "graph_rebuilds",
        "implausible_copies",
        "missing_records",
        "no_communication",
        "opaque_graphs",
        "unclassified_kernels",
        "unseen_graphs",
    }
    assert about_trace <= {finding.id for finding in findings}
    sources = {evidence.source for finding in findings for evidence in finding.evidence}
    assert sources <= {result_type.id for result_type in result_types()}


@pytest.mark.parametrize("copied", [True, False])
def test_every_finding_about_the_job_names_the_command_that_shows_the_gain(tmp_path: Path, copied: bool) -> None:  # noqa: FBT001
    export = Export()
    for step in range(6):
        begin = 100_000 * step
        export.nvtx(begin, begin + 99_999, f"step {step}")
        export.call(begin + 40_000, begin + 41_000, "cudaLaunchKernel", correlation=step + 1)
        export.kernel(begin + 41_000, begin + 90_000, GEMM, correlation=step + 1)
        if copied:
            export.copy(begin, begin + 30_000, 1 << 20)

    findings = analyze_exports(tmp_path, export).findings

    about_job = [finding for finding in findings if finding.cause is not None]
    assert about_job
    assert all("nsysan compare" in (finding.check or "") for finding in about_job)
    assert all(finding.check is None for finding in findings if finding.cause is None)
