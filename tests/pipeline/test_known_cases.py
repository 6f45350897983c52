"""Cases at which other tools say something wrong, with what is right, over the whole way from file to findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.model.verdicts import BottleneckClass
from nsysan.report.formats.text import render_text
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

MS, US = 1_000_000, 1_000
GEMM = "ampere_sgemm_128x64_tn"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevKernelArgsStorage<4096>)"

PINNED = {"kind": CopyKind.HOST_TO_DEVICE, "src_memory": MemoryKind.PINNED, "dst_memory": MemoryKind.DEVICE}


def test_a_healthy_run_gives_no_alarm(tmp_path: Path) -> None:
    # C10: 400 kernels of 1 ms, 10 us apart
    export = Export()
    for place in range(400):
        begin = place * (MS + 10 * US)
        export.call(begin, begin + 5 * US, "cudaLaunchKernel_v7000", correlation=place + 1)
        export.kernel(begin + 6 * US, begin + 6 * US + MS, GEMM, correlation=place + 1)

    run = analyze_exports(tmp_path, export)

    idle = result_of(run, GpuTime).job.time.idle
    assert idle.mean_frac == pytest.approx(399 * 10 / (400 * 1_000 + 399 * 10))
    assert f"{100 * idle.mean_frac:.2f}" == "0.99"
    assert run.findings == ()


def test_communication_and_idle_time_are_disjoint_parts_of_what_is_not_computed(tmp_path: Path) -> None:
    # C11: of 100 us 30 compute nothing, and 20 of these communicate: there are not 50 to win
    export = Export().kernel(0, 40 * US, GEMM).kernel(40 * US, 60 * US, ALL_REDUCE, stream=8)
    export.kernel(70 * US, 100 * US, GEMM)

    time = result_of(analyze_exports(tmp_path, export), GpuTime).gpus[0].time

    assert (time.exposed_communication_ns, time.idle_ns) == (20 * US, 10 * US)
    assert time.compute_only_ns == 100 * US - 30 * US


@pytest.mark.parametrize(
    ("name", "headline"),
    [("DataLoader.__next__", BottleneckClass.DATA), ("weights of layer 3", BottleneckClass.MEMORY)],
)
def test_a_gpu_that_copies_is_not_idle(tmp_path: Path, name: str, headline: BottleneckClass) -> None:
    # C05: of 960 ms on either GPU 2.3 % compute and 97 % are pinned copies, of a batch or of what was offloaded
    export = Export()
    for pid in (100, 200):
        for place in range(10):
            begin, number = place * 96 * MS, 2 * place + 1
            copied, computed = begin + 93_120 * US, begin + 95_328 * US
            export.nvtx(begin, begin + 5 * US, name, pid=pid)
            export.call(begin, begin + US, "cudaMemcpyAsync_v3020", pid=pid, correlation=number)
            export.call(begin + US, begin + 2 * US, "cudaLaunchKernel_v7000", pid=pid, correlation=number + 1)
            export.copy(begin + US, copied, 2 << 30, pid=pid, device=pid // 100, correlation=number, **PINNED)
            export.kernel(copied, computed, GEMM, pid=pid, device=pid // 100, correlation=number + 1)

    run = analyze_exports(tmp_path, export)

    for gpu in result_of(run, GpuTime).gpus:
        assert gpu.time.exposed_copy_ns / gpu.time.window_ns == pytest.approx(0.97, abs=0.002)
        assert gpu.time.idle_ns / gpu.time.window_ns == pytest.approx(0.007, abs=0.001)
    assert run.diagnosis.headline is not None
    assert (run.diagnosis.headline.bottleneck_class, run.diagnosis.headline.cause) == (headline, "exposed_copy")


def test_the_same_fault_in_every_step_and_on_every_gpu_is_one_finding(tmp_path: Path) -> None:
    # T22: 3 GPUs wait for data, synchronise and collect garbage in each of 20 steps
    export = Export()
    for pid in (100, 200, 300):
        for step in range(20):
            begin = step * 12 * MS
            for name, start in (("DataLoader.__next__", 0), ("gloo:barrier", 2), ("gc", 4)):
                export.nvtx(begin + start * MS, begin + (start + 2) * MS, name, pid=pid)
            export.nvtx(begin, begin + 12 * MS - 1, f"step {step}", pid=pid)
            export.call(begin + 6 * MS, begin + 6 * MS + US, "cudaLaunchKernel", pid=pid, correlation=step + 1)
            end = begin + 12 * MS
            export.kernel(begin + 6 * MS + US, end, GEMM, pid=pid, device=pid // 100, correlation=step + 1)

    findings = analyze_exports(tmp_path, export).findings

    causes = [finding.cause for finding in findings if finding.cause is not None]
    assert sorted(causes) == ["data_loading", "garbage_collection", "host_communication"]
    assert len({finding.title for finding in findings}) == len(findings)


def test_what_lies_between_two_thresholds_is_told_all_the_same(tmp_path: Path) -> None:
    # C12: 40 % of the communication is hidden, and it takes about as long as the compute
    export = Export().kernel(0, 100 * US, GEMM).kernel(60 * US, 160 * US, ALL_REDUCE, stream=8)

    run = analyze_exports(tmp_path, export)

    (gpu,) = result_of(run, GpuTime).gpus
    assert gpu.overlap_frac == 0.4
    assert gpu.time.exposed_communication_ns == 60 * US
    assert gpu.time.window_ns == 160 * US
    assert "communication 0.0 to 37.5 % not known" in render_text(run)
