"""What to do about memory: allocation, copies, and activations computed again."""

from __future__ import annotations

from nsysan.findings.advice.piece import Advice
from nsysan.model.idle import Cause
from nsysan.model.losses import EXPOSED_COPY, RECOMPUTATION
from nsysan.model.verdicts import BottleneckClass

_ALLOCATOR = frozenset({Cause.ALLOCATOR.value})
_COPIES = frozenset({EXPOSED_COPY, Cause.BLOCKING_COPY.value})

MEMORY = (
    Advice(
        id="stop_freeing",
        causes=_ALLOCATOR,
        sentence="Remove torch.cuda.empty_cache() and other frees from the step: each waits for the GPU.",
    ),
    Advice(
        id="expandable_segments",
        causes=_ALLOCATOR,
        sentence="Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, and keep shapes the same from step to step.",
        only_if="the allocator retries because memory is fragmented (num_alloc_retries grows)",
    ),
    Advice(
        id="shard_states",
        causes=_ALLOCATOR,
        sentence="Take less memory: shard optimizer states (ZeRO-1: 4 N + 12 N / n bytes instead of 16 N).",
        only_if="memory is full",
    ),
    Advice(
        id="pin_copies",
        causes=_COPIES,
        bottleneck_class=BottleneckClass.MEMORY,
        sentence="Copy from pinned memory with non_blocking=True, and no earlier than needed; make masks and "
        "positions on "
        "the GPU instead of copying them.",
    ),
    Advice(
        id="offload_ahead",
        causes=_COPIES,
        bottleneck_class=BottleneckClass.MEMORY,
        sentence="Start copies of offloaded tensors a layer ahead, on a stream of their own.",
        only_if="these copies are offloading",
    ),
    Advice(
        id="keep_activations",
        causes=frozenset({RECOMPUTATION}),
        sentence="Keep what is cheap to keep: recompute attention only (selective recomputation), or fewer layers.",
        only_if="memory allows: 34 s b h / t bytes a layer instead of 2 s b h",
    ),
    Advice(
        id="shard_to_keep",
        causes=frozenset({RECOMPUTATION}),
        sentence="Make room for activations: shard optimizer states and gradients further (ZeRO-2: 2 N + 14 N "
        "/ n bytes), "
        "or share sequences over ranks.",
        only_if="data-parallel ranks are there to shard over",
    ),
    Advice(
        id="prefetch_managed",
        causes=frozenset({Cause.UNIFIED_MEMORY.value}),
        sentence="Prefetch managed memory (cudaMemPrefetchAsync), or allocate on the device what the GPU uses most.",
    ),
)
