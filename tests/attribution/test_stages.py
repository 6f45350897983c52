"""Stages of work: what ranges, threads, kernels and the order of launches tell, each on a trace of a few launches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from nsysan.attribution.job import build_job
from nsysan.attribution.stages.codes import SOURCES, STAGES
from nsysan.attribution.stages.names import is_loss, is_operator, stage_of_operator, stage_of_range
from nsysan.attribution.stages.ranges import ProcessRanges
from nsysan.attribution.stages.work import launched_work, ordered_work
from nsysan.attribution.stages.work_stages import stages_of_work
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.stages import Stage
from nsysan.synth.export import Export
from nsysan.synth.tables.row_store import global_pid

if TYPE_CHECKING:
    from pathlib import Path

GEMM, ADAM, LOSS = "ampere_sgemm", "multi_tensor_apply_kernel", "nll_loss_forward"
NORM, NORM_BACKWARD, FLASH, FLASH_BACKWARD = "vectorized_layer_norm", "layer_norm_backward", "flash_fwd", "flash_bwd"
ALL_REDUCE, ALL_GATHER = "ncclDevKernel_AllReduce_Sum", "ncclDevKernel_AllGather"
MAIN, AUTOGRAD, PREFETCH = 100, 101, 102


class Launches:
    """Launches one after the other, 10 ns each; their work begins 1,000 ns later."""

    def __init__(self) -> None:
        self.export = Export()
        self.now_ns = 0

    def __call__(self, *names: str, tid: int = MAIN, stream: int = 7) -> Launches:
        for name in names:
            place = self.now_ns // 10 + 1
            self.export.call(self.now_ns, self.now_ns + 5, "cudaLaunchKernel", tid=tid, correlation=place)
            begin_ns = self.now_ns + 1_000
            if name == "copy":
                self.export.copy(begin_ns, begin_ns + 5, 64, kind=1, stream=stream, correlation=place)
            else:
                self.export.kernel(begin_ns, begin_ns + 5, name, stream=stream, correlation=place)
            self.now_ns += 10
        return self

    def named(self, text: str, *names: str, tid: int = MAIN) -> Launches:
        """Launches in a range."""
        begin_ns = self.now_ns
        self(*names, tid=tid)
        self.export.nvtx(begin_ns, self.now_ns, text, tid=tid)
        return self

    def stages(self, folder: Path) -> list[str]:
        """The stage of each launch in their order, and what tells it."""
        job = build_job([read_trace(self.export.write(folder / "rank0.sqlite"), ReadOptions())])
        [device], host = job.devices, job.idle.threads[0].host
        work = ordered_work(device.activities, host, launched_work(device.activities, host))
        ranges = ProcessRanges(host, device.global_pid, None)
        found = stages_of_work(work, ranges, global_pid(100) | MAIN, np.zeros(len(work), np.int64))
        pairs = zip(found.stage.tolist(), found.source.tolist(), strict=True)
        return ["-" if stage < 0 else f"{STAGES[stage].value}: {SOURCES[source].value}" for stage, source in pairs]


@pytest.mark.parametrize(
    ("text", "stage"),
    [
        ("forward", Stage.FORWARD),
        ("[pl][profile][Strategy]DDPStrategy.training_step", Stage.FORWARD),
        ("DeepSpeedEngine.backward", Stage.BACKWARD),
        ("loss.backward", Stage.BACKWARD),
        ("forward_backward_func", None),
        ("Optimizer.step#AdamW.step", Stage.OPTIMIZER),
        ("clip_grad_norm", Stage.OPTIMIZER),
        ("all-grads-sync", Stage.GRADIENT_SYNC),
        ("DeepSpeedEngine.allreduce_gradients", Stage.GRADIENT_SYNC),
        ("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", Stage.DATA),
        ("save_checkpoint", Stage.OTHER),
        ("evaluate_model", Stage.OTHER),
        ("train_step", None),
        ("layer 3", None),
    ],
)
def test_what_ranges_say(text: str, stage: Stage | None) -> None:
    assert stage_of_range(text) is stage


def test_what_operators_and_kernels_say() -> None:
    assert [name for name in ("aten::mm", "MmBackward0", "backward", "nccl:all_reduce") if is_operator(name)] == [
        "aten::mm",
        "MmBackward0",
        "nccl:all_reduce",
    ]
    assert stage_of_operator("void flash_bwd_dq_dk_dv_loop") is Stage.BACKWARD
    assert stage_of_operator("cuComputePartGradGammaBeta") is Stage.BACKWARD
    assert stage_of_operator("volta_sgemm_128x32_nn") is None
    assert (is_loss("nll_loss_forward_reduce"), is_loss("nll_loss_backward_reduce")) == (True, False)


def test_ranges_around_the_call_and_those_around_them_tell_and_the_rest_is_none_of_them(tmp_path: Path) -> None:
    launches = Launches().named("data loader", "copy")("copy").named("forward", GEMM, "copy").named("backward", GEMM)
    launches.export.nvtx(30, 40, "layer 1")  # says nothing, so the range around it does
    found = launches.named("optimizer", GEMM)(GEMM).stages(tmp_path)

    assert found == [
        "host_to_device_copy: ranges",
        "host_to_device_copy: ranges",
        "forward: ranges",
        "forward: ranges",
        "backward: ranges",
        "optimizer: ranges",
        "other: ranges",
    ]


def test_a_forward_inside_the_backward_is_computed_again_for_it(tmp_path: Path) -> None:
    launches = Launches().named("forward", GEMM)
    begin_ns = launches.now_ns
    launches(GEMM).named("forward", GEMM)(GEMM).export.nvtx(begin_ns, launches.now_ns, "backward")

    assert launches.stages(tmp_path) == ["forward: ranges", *["backward: ranges"] * 3]


def test_other_threads_do_what_the_main_thread_waits_for_but_copies_in_advance(tmp_path: Path) -> None:
    launches = Launches().named("forward", GEMM)
    begin_ns = launches.now_ns
    launches(GEMM, tid=AUTOGRAD)("copy", tid=PREFETCH)(GEMM, tid=AUTOGRAD)
    launches.export.nvtx(begin_ns, launches.now_ns, "backward")

    assert launches.stages(tmp_path) == [
        "forward: ranges",
        "backward: ranges",
        "host_to_device_copy: kernels",
        "backward: ranges",
    ]


def test_a_range_that_holds_most_launches_is_where_the_thread_works(tmp_path: Path) -> None:
    launches = Launches()
    launches.named("forward", GEMM, GEMM).named("backward", GEMM).named("optimizer", ADAM)
    launches.export.nvtx(0, launches.now_ns, "train over the data loader batches")

    assert launches.stages(tmp_path) == [*["forward: ranges"] * 2, "backward: ranges", "optimizer: ranges"]


def test_without_ranges_the_thread_of_autograd_tells_the_backward(tmp_path: Path) -> None:
    launches = Launches()
    for _ in range(2):
        launches("copy", NORM, GEMM)(NORM, GEMM, tid=AUTOGRAD)(ALL_REDUCE, tid=AUTOGRAD, stream=9)(
            NORM, ADAM, NORM, ADAM
        )

    step = [
        "host_to_device_copy: kernels",
        *["forward: order"] * 2,
        *["backward: kernels"] * 2,
        "gradient_sync: kernels",
        "optimizer: order",
        "optimizer: kernels",
        "optimizer: order",
        "optimizer: kernels",
    ]
    assert launches.stages(tmp_path) == 2 * step


def test_on_one_thread_names_order_and_the_last_reduction_tell(tmp_path: Path) -> None:
    launches = Launches()("copy", NORM, FLASH, GEMM, LOSS, GEMM, NORM_BACKWARD, FLASH_BACKWARD, GEMM)
    launches(ALL_REDUCE, stream=9)(NORM, ADAM)

    assert launches.stages(tmp_path) == [
        "host_to_device_copy: kernels",
        "forward: order",
        "forward: kernels",
        "forward: order",
        "forward: kernels",
        # the loss ends the forward
        "backward: order",
        "backward: kernels",
        "backward: kernels",
        "backward: order",
        "gradient_sync: kernels",
        "optimizer: order",
        "optimizer: kernels",
    ]


def test_what_could_be_of_two_stages_is_of_none(tmp_path: Path) -> None:
    # no loss between forward and backward, no reduction between backward and optimizer
    launches = Launches()(FLASH, GEMM, FLASH_BACKWARD, NORM, ADAM)

    assert launches.stages(tmp_path) == ["forward: kernels", "-", "backward: kernels", "-", "optimizer: kernels"]


def test_collectives_that_sum_activations_are_no_reduction_of_gradients(tmp_path: Path) -> None:
    # on stream 8 tensor parallelism sums both ways, on stream 9 gradients are reduced; a gather is neither
    launches = Launches().named("forward", GEMM)
    begin_ns = launches.now_ns
    launches(ALL_REDUCE, stream=8).export.nvtx(begin_ns, launches.now_ns, "forward")
    begin_ns = launches.now_ns
    launches(GEMM)(ALL_REDUCE, stream=8)(ALL_REDUCE, stream=9)(ALL_GATHER, stream=9)
    launches.export.nvtx(begin_ns, launches.now_ns, "backward")
    launches(ALL_REDUCE, stream=9).named("optimizer", ADAM)(ALL_REDUCE, stream=9)

    assert launches.stages(tmp_path) == [
        "forward: ranges",
        "forward: ranges",
        "backward: ranges",
        "backward: ranges",
        "gradient_sync: kernels",
        "backward: ranges",
        # after the backward and before the optimizer
        "gradient_sync: kernels",
        "optimizer: ranges",
        "other: ranges",
    ]


def test_without_calls_names_and_the_order_of_work_tell(tmp_path: Path) -> None:
    export = Export()
    for place, name in enumerate((FLASH, GEMM, LOSS, FLASH_BACKWARD, ADAM)):
        export.kernel(place * 10, place * 10 + 5, name)
    launches = Launches()
    launches.export = export

    assert launches.stages(tmp_path) == [
        "forward: kernels",
        "forward: order",
        "forward: kernels",
        "backward: kernels",
        "optimizer: kernels",
    ]
