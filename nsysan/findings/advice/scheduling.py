"""What to do about a host that is late, ranks that wait for their turn, and pauses."""

from __future__ import annotations

from nsysan.findings.advice.piece import Advice
from nsysan.model.idle import Cause
from nsysan.model.losses import PIPELINE_BUBBLE
from nsysan.model.verdicts import BottleneckClass

_STARVED = frozenset({Cause.LAUNCH_STARVED.value})
_GRAPHS = frozenset({Cause.GRAPH_BUILD.value})
_PAUSES = frozenset({Cause.GARBAGE_COLLECTION.value})
_SAVING = frozenset({Cause.CHECKPOINT.value})

SCHEDULING = (
    Advice(
        id="capture_graphs",
        causes=_STARVED,
        sentence="Capture the step, or its layers, in CUDA graphs: one launch in place of many.",
        only_if="shapes and control flow are the same in every step",
        holds=lambda job: job.idles_in_short_gaps and not job.runs_graphs,
    ),
    Advice(
        id="compile",
        causes=_STARVED,
        sentence="Launch fewer kernels: torch.compile, fused optimizers, fused layers.",
        holds=lambda job: job.idles_in_short_gaps,
    ),
    Advice(
        id="larger_batch",
        causes=_STARVED,
        sentence="Give each launch more work: a larger micro-batch or longer sequences.",
        only_if="memory allows",
        holds=lambda job: job.idles_in_short_gaps,
    ),
    Advice(
        id="free_the_launcher",
        causes=_STARVED,
        sentence="Find what the launching thread does in the longest gaps, and take it out of the loop or give it to "
        "another process; record with --sample=process-tree to see it.",
        holds=lambda job: job.idles_in_long_gaps,
    ),
    Advice(
        id="pin_threads",
        causes=frozenset({Cause.OS_BLOCKED.value, Cause.SLOW_LAUNCH.value}),
        sentence="Pin each rank's threads to cores of its GPU's NUMA node, and keep other work off them.",
    ),
    Advice(
        id="no_waits_in_launcher",
        causes=frozenset({Cause.OS_BLOCKED.value}),
        sentence="Take file writes, prints and locks out of the launching thread.",
    ),
    Advice(
        id="fewer_launchers",
        causes=frozenset({Cause.SLOW_LAUNCH.value}),
        sentence="Let one thread launch, and launch less: calls this long wait for a lock of the driver or a "
        "full queue.",
    ),
    Advice(
        id="read_back_less",
        causes=frozenset({Cause.HOST_SYNC.value}),
        sentence="Stop waiting for the GPU inside the step: keep values on it (no .item(), .cpu(), print of tensors, "
        "nonzero), and log them every so many steps.",
    ),
    Advice(
        id="read_back_later",
        causes=frozenset({Cause.BLOCKING_COPY.value}),
        bottleneck_class=BottleneckClass.SCHEDULING,
        sentence="Copy results to pinned memory with non_blocking=True, and read them a step later.",
    ),
    Advice(
        id="load_before",
        causes=frozenset({Cause.MODULE_LOADING.value}),
        sentence="Load code before the steps: CUDA_MODULE_LOADING=EAGER, a warm-up step, caches of compiled kernels on "
        "local disk; avoid shapes that make it compile anew.",
    ),
    Advice(
        id="instantiate_once",
        causes=_GRAPHS,
        sentence="Instantiate each graph once and launch it in every step.",
    ),
    Advice(
        id="update_graphs",
        causes=_GRAPHS,
        sentence="Where only arguments change, update the graph with cudaGraphExecUpdate.",
    ),
    Advice(
        id="keep_shapes",
        causes=_GRAPHS,
        sentence="Keep shapes as they are: one that differs from step to step makes PyTorch capture anew.",
    ),
    Advice(
        id="collect_together",
        causes=_PAUSES,
        sentence="Switch automatic collection off (gc.disable()) and collect on all ranks in the same step, "
        "every so many "
        "steps; gc.freeze() after the model is built.",
    ),
    Advice(
        id="save_asynchronously",
        causes=_SAVING,
        sentence="Save asynchronously: copy to pinned memory, and write while training goes on.",
        only_if="host memory holds a copy of the states",
    ),
    Advice(
        id="save_less_often",
        causes=_SAVING,
        sentence="Save every sqrt(2 M C) seconds, M being the mean time between failures and C what a save "
        "blocks; with "
        "restarts that keep healthy ranks, M grows.",
    ),
    Advice(
        id="share_no_gpu",
        causes=frozenset({Cause.DEVICE_WAIT.value}),
        sentence="Run the job alone on its GPUs: processes that share one without MPS take turns of milliseconds. "
        "nvidia-smi shows them, and nsys with --gpuctxsw=true their turns.",
        only_if="another process has work on the GPU",
    ),
    Advice(
        id="batching_driver",
        causes=frozenset({Cause.DEVICE_WAIT.value}),
        sentence="Under Windows or WSL switch hardware-accelerated GPU scheduling on, or run under Linux: the driver "
        "there batches launches.",
        only_if="the trace is from there",
    ),
    Advice(
        id="other_work",
        causes=frozenset({Cause.DEVICE_WAIT.value}),
        sentence="Record with --cuda-event-trace=true, and look which stream or event the held work waits for.",
    ),
    Advice(
        id="more_microbatches",
        causes=frozenset({PIPELINE_BUBBLE}),
        sentence="Cut the batch into more micro-batches: of p stages and m micro-batches (p - 1) / (m + p - 1) "
        "of a step "
        "is bubble.",
        only_if="micro-batches stay large enough to keep a GPU busy",
    ),
    Advice(
        id="interleave",
        causes=frozenset({PIPELINE_BUBBLE}),
        sentence="Interleave stages (v chunks a rank: a bubble of (p - 1) / v in place of p - 1), or use a "
        "schedule that "
        "splits the backward.",
        only_if="links bear v times the messages",
    ),
    Advice(
        id="balance_stages",
        causes=frozenset({PIPELINE_BUBBLE}),
        sentence="Give every stage the same time: move layers from the slowest, and weigh embedding and head "
        "as layers.",
    ),
)
