"""CUDA graphs as the host makes them, and what is found of that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.analysis.graph_builds import GraphBuilds, GraphBuildsOfDevice
from nsysan.model.findings import Finding
from nsysan.model.verdicts import BottleneckClass, Severity
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

MS = 1_000_000
INSTANTIATE, LAUNCH = "cudaGraphInstantiate_v12000", "cudaGraphLaunch_v10000"
STEPS = 11
"""Markers: the last step has no next one to end it."""


def loop(instantiating: int, call_ns: int = 5 * MS, step_ns: int = 20 * MS) -> Export:
    """Steps with one graph launch each, the first of which instantiate the graph."""
    export = Export()
    for step in range(STEPS):
        begin = step * step_ns
        export.nvtx(begin, begin + step_ns - 1, f"step {step}")
        if step < instantiating:
            # inside the step on the device as well: it runs from kernel to kernel
            export.call(begin + 12 * MS, begin + 12 * MS + call_ns, INSTANTIATE)
        export.call(begin + MS, begin + 2 * MS, LAUNCH, correlation=step + 1)
        for node in range(3):
            export.kernel(begin + (2 + node) * MS, begin + (3 + node) * MS, "gemm", correlation=step + 1)
    return export


def found(folder: Path, export: Export, rule: str) -> list[Finding]:
    return [finding for finding in analyze_exports(folder, export).findings if finding.id == rule]


def test_a_graph_that_is_instantiated_in_every_step_is_found(tmp_path: Path) -> None:
    # C54: 10 steps, each with 5 ms of cudaGraphInstantiate
    export = loop(instantiating=10)

    run = analyze_exports(tmp_path, export)

    assert result_of(run, GraphBuilds).graph_builds == (GraphBuildsOfDevice("r0/p100/d0", 11, 10, 50 * MS, 10, 10, 0),)
    (finding,) = found(tmp_path, export, "graph_rebuilds")
    assert (finding.bottleneck_class, finding.cause) == (BottleneckClass.SCHEDULING, "graph_build")
    assert finding.severity is Severity.WARNING
    assert finding.title == "CUDA graphs are instantiated again in every step, which takes the host 50.000 ms"
    assert finding.evidence[0].sentence == "r0/p100/d0: 10 calls in 10 of 10 steps, and 11 launches of a graph."


def test_a_graph_that_is_made_once_and_launched_often_is_as_it_should_be(tmp_path: Path) -> None:
    for steps in (1, 5):
        assert found(tmp_path, loop(instantiating=steps), "graph_rebuilds") == []


def test_from_over_half_of_the_steps_on_it_is_found_and_matters_by_its_share(tmp_path: Path) -> None:
    (finding,) = found(tmp_path, loop(instantiating=6, call_ns=MS // 2), "graph_rebuilds")

    # 3 ms over 10 steps of 20 ms
    assert finding.severity is Severity.INFO
    assert finding.title == "CUDA graphs are instantiated again in 6 of 10 steps, which takes the host 3.000 ms"


def test_of_several_processes_the_worst_is_told(tmp_path: Path) -> None:
    export = loop(instantiating=10)
    for step in range(STEPS):
        begin = step * 20 * MS
        export.nvtx(begin, begin + 19 * MS, f"step {step}", pid=200)
        export.call(begin + 12 * MS, begin + 13 * MS, INSTANTIATE, pid=200)
        export.call(begin + MS, begin + 2 * MS, LAUNCH, pid=200, correlation=step + 1)
        export.kernel(begin + 2 * MS, begin + 3 * MS, "gemm", pid=200, correlation=step + 1)

    (finding,) = found(tmp_path, export, "graph_rebuilds")

    assert [evidence.sentence for evidence in finding.evidence] == [
        "r0/p100/d0: 10 calls in 10 of 10 steps, and 11 launches of a graph.",
        "1 other device does so as well.",
        "5.000 ms of it in one gap on gpu0.",
    ]


def test_the_drivers_row_of_a_call_counts_with_it(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, "gemm").call(20, 40, INSTANTIATE, correlation=7)
    export.call(21, 39, "cuGraphInstantiateWithFlags", correlation=7, event_class=1)

    (row,) = result_of(analyze_exports(tmp_path, export), GraphBuilds).graph_builds

    assert (row.instantiate_count, row.instantiate_ns, row.step_count) == (1, 20, 0)


def test_conditional_nodes_are_a_caveat_and_without_them_there_is_none(tmp_path: Path) -> None:
    # C55: of a loop inside a graph only the first round is recorded
    export = loop(instantiating=1)
    assert found(tmp_path, export, "conditional_graphs") == []

    (finding,) = found(tmp_path, export.call(1, 2, "cudaGraphConditionalHandleCreate_v12030"), "conditional_graphs")

    assert (finding.severity, finding.bottleneck_class) == (Severity.INFO, None)
    assert finding.title == "CUDA graphs have conditional nodes: kernels of loops and branches inside may be missing"
    assert finding.evidence[0].sentence == "1 conditional handle made while recording."


def test_a_job_without_graphs_has_no_rows(tmp_path: Path) -> None:
    export = Export().call(0, 1, "cudaLaunchKernel_v7000", correlation=1).kernel(5, 10, "gemm", correlation=1)

    assert result_of(analyze_exports(tmp_path, export), GraphBuilds).graph_builds == ()
