"""Stages of the mean step: what each is told by, how sure it is, and that they add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.analysis.stages import Stages, StagesOfDevice, StagesOfStep, StageTime, ToldBy
from nsysan.model.confidence import Confidence
from nsysan.model.partition import PartTimes
from nsysan.model.results import Skipped
from nsysan.model.stages import Stage
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

US = 1_000
GEMM, ADAM, ALL_REDUCE = "ampere_sgemm", "multi_tensor_apply_kernel", "ncclDevKernel_AllReduce_Sum"
BY_RANGES, BY_KERNELS = ToldBy(1, 0, 0), ToldBy(0, 1, 0)


def job(step_count: int = 5, phase_type: int = 59) -> Export:
    """Steps of 100 us, each launched 10 us before it runs.

    Forward from 0 to 20, backward to 50, the reduction from 40 to 60, optimizer from 60 to 70; from 60 to 78 the host
    awaits a batch, which is copied from 85 to 86.
    """
    export = Export()
    for step in range(step_count):
        begin = 100 * step + 20
        export.nvtx((begin - 11) * US, (begin + 89) * US - 1, f"step {step}")
        works = ((0, 20, GEMM, 7), (20, 50, GEMM, 7), (40, 60, ALL_REDUCE, 9), (60, 70, ADAM, 7))
        for number, (start, end, name, stream) in enumerate(works):
            correlation = 10 * step + number + 1
            call_ns = (begin + start - 10) * US
            export.call(call_ns, call_ns + US, "cudaLaunchKernel", correlation=correlation)
            export.kernel((begin + start) * US, (begin + end) * US, name, stream=stream, correlation=correlation)
        phases = (("forward", -10, 10), ("backward", 10, 40), ("optimizer", 45, 55), ("get batch", 60, 78))
        for text, start, end in phases:
            export.nvtx((begin + start) * US, (begin + end) * US, text, event_type=phase_type)
        copy = 10 * step + 9
        export.call((begin + 80) * US, (begin + 81) * US, "cudaMemcpyAsync", correlation=copy)
        export.copy((begin + 85) * US, (begin + 86) * US, 65_536, kind=1, correlation=copy)
    return export


def test_the_stages_of_the_mean_step_add_up_to_it(tmp_path: Path) -> None:
    found = result_of(analyze_exports(tmp_path, job()), Stages)
    [device] = found.stages

    assert [figure.value / US for figure in found.figures()] == [8, 8, 34, 30, 10, 10, 0, 0]
    assert device == StagesOfDevice(
        device="r0/p100/d0",
        count=4,
        step_ns=100 * US,
        coverage_frac=1.0,
        confidence=Confidence.HIGH,
        stages=(
            # the device idles from 70 on, the host loads from 60 on
            stage(Stage.DATA, 8, 18, BY_RANGES, idle=8),
            # called at 80, begun at 85: outside of all ranges the host prepares what it launches next
            stage(Stage.HOST_TO_DEVICE_COPY, 8, 5 + 3, BY_RANGES, copy=1, idle=7),
            stage(Stage.FORWARD, 34, 20 + 9, BY_RANGES, compute=20, idle=14),
            stage(Stage.BACKWARD, 30, 30, BY_RANGES, compute=20, overlapped=10),
            stage(Stage.GRADIENT_SYNC, 10, 0, BY_KERNELS, communication=10),
            stage(Stage.OPTIMIZER, 10, 10 + 5, BY_RANGES, compute=10),
        ),
        list=tuple(
            StagesOfStep(
                (20 + 100 * step) * US,
                {
                    "data_ns": 8 * US,
                    "host_to_device_copy_ns": 8 * US,
                    "forward_ns": 34 * US,
                    "backward_ns": 30 * US,
                    "gradient_sync_ns": 10 * US,
                    "optimizer_ns": 10 * US,
                },
                None,
            )
            for step in range(4)
        ),
    )


def stage(  # noqa: PLR0913 -- the parts of a stage, each by name
    name: Stage,
    gpu: int,
    host: int,
    told: ToldBy,
    *,
    compute: int = 0,
    overlapped: int = 0,
    communication: int = 0,
    copy: int = 0,
    idle: int = 0,
) -> StageTime:
    """A stage of a step of 100 us; all times in us."""
    time = PartTimes(*(US * part for part in (compute, overlapped, 0, 0, communication, copy, idle)))
    confidence = Confidence.HIGH if told is BY_RANGES else Confidence.MEDIUM
    return StageTime(name, gpu * US, gpu / 100, time, host * US, told, confidence)


def test_start_end_ranges_tell_as_much_as_pushed_ones(tmp_path: Path) -> None:
    pushed, started = (
        result_of(analyze_exports(tmp_path, job(phase_type=event_type)), Stages).stages for event_type in (59, 60)
    )

    # of idle time they name no cause, so what the device waits for a batch goes to what ends the wait
    assert [of_work(device) for device in started] == [of_work(device) for device in pushed]


def of_work(device: StagesOfDevice) -> dict[Stage | None, tuple[int, ToldBy | None]]:
    """The busy time of each stage, and what tells it."""
    busy = {entry.stage: (entry.gpu_ns - entry.time.idle_ns, entry.told_by) for entry in device.stages}
    return {stage: found for stage, found in busy.items() if found[0]}


def test_without_calls_nothing_is_said_of_the_host_and_kernels_tell_the_rest(tmp_path: Path) -> None:
    export = Export()
    for step in range(5):
        names = ("flash_fwd", GEMM, "flash_bwd", ADAM)
        for place, name in enumerate(names):
            begin = 100 * step + 20 * place
            export.kernel(begin * US, (begin + 20) * US, name)

    [device] = result_of(analyze_exports(tmp_path, export), Stages).stages

    # the product between forward and backward may be of either; what follows the optimizer waits for the next forward
    found = {time.stage: (time.gpu_ns // US, time.host_ns, time.confidence) for time in device.stages}
    assert found == {
        Stage.FORWARD: (40, None, Confidence.MEDIUM),
        Stage.BACKWARD: (20, None, Confidence.MEDIUM),
        Stage.OPTIMIZER: (20, None, Confidence.MEDIUM),
        None: (20, None, None),
    }
    assert device.coverage_frac == 0.8


def test_without_steps_there_is_nothing_to_take_apart(tmp_path: Path) -> None:
    found = analyze_exports(tmp_path, Export().kernel(0, 10, GEMM)).results.get(Stages)

    assert isinstance(found, Skipped)
