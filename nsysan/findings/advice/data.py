"""What to do about input that comes late."""

from __future__ import annotations

from nsysan.findings.advice.piece import Advice
from nsysan.model.idle import Cause
from nsysan.model.losses import EXPOSED_COPY
from nsysan.model.verdicts import BottleneckClass

_LOADING = frozenset({Cause.DATA_LOADING.value})

DATA = (
    Advice(
        id="prefetch",
        causes=_LOADING,
        sentence="Load ahead: more workers, and more batches prefetched by each (num_workers, prefetch_factor, "
        "persistent_workers).",
        only_if="cores are free on the host and storage is not the limit",
    ),
    Advice(
        id="balance_input",
        causes=_LOADING,
        sentence="Look why this rank's input is slower than the others': give all ranks shards of equal cost, the same "
        "cores and the same storage.",
        holds=lambda job: job.one_rank_loads_late,
    ),
    Advice(
        id="prepare_ahead",
        causes=_LOADING,
        sentence="Decode and tokenise before training, pack sequences, and map the result into memory.",
        only_if="workers spend their time on preparing samples",
    ),
    Advice(
        id="faster_storage",
        causes=_LOADING,
        sentence="Read from local disk or a cache, in larger pieces.",
        only_if="workers wait for storage",
    ),
    Advice(
        id="pin_batches",
        causes=frozenset({EXPOSED_COPY, Cause.BLOCKING_COPY.value}),
        bottleneck_class=BottleneckClass.DATA,
        sentence="Pin the batch's memory (pin_memory=True) and copy the next one with non_blocking=True on a stream of "
        "its own while the GPU computes.",
    ),
)
