"""What to do about communication that nothing hides."""

from __future__ import annotations

from nsysan.findings.advice.piece import Advice, when_named
from nsysan.model.idle import Cause
from nsysan.model.losses import CONTENTION, EXPOSED_COLLECTIVE, SAME_STREAM, SLOW_LINK
from nsysan.model.purposes import Purpose

_EXPOSED = frozenset({EXPOSED_COLLECTIVE})
_SLOW = frozenset({SLOW_LINK})

COMMUNICATION = (
    Advice(
        id="record_all_ranks",
        causes=_EXPOSED,
        sentence="Give the reports of all ranks first: alone, these cannot tell a slow transfer from waiting.",
        holds=lambda job: job.lacks_ranks,
    ),
    Advice(
        id="overlap",
        causes=_EXPOSED,
        sentence="Start reductions and gathers under computing (those of gradients and parameters DDP and FSDP do by "
        "default, Megatron with --overlap-grad-reduce --overlap-param-gather), with buckets small enough to begin "
        "early.",
        only_if="the longest exposed stretch follows computing it does not depend on",
        holds=lambda job: job.reduces,
    ),
    Advice(
        id="accumulate",
        causes=_EXPOSED,
        sentence="Reduce gradients less often: accumulate over more micro-batches. DDP then sends 2 N once a step.",
        only_if="gradients are what is reduced, and the global batch may grow, or micro-batches shrink",
        holds=lambda job: job.reduces and not job.has_tensor_parallelism,
    ),
    Advice(
        id="reduce_narrow",
        causes=_EXPOSED,
        sentence="Reduce gradients in bf16, or compress them: half the bytes of 32-bit reductions.",
        only_if="gradients are what is reduced, and the loss is the same with it",
        holds=lambda job: job.reduces_single_precision,
    ),
    Advice(
        id="less_tensor_parallelism",
        causes=_EXPOSED,
        sentence="Share tensors over fewer ranks, within one NVLink domain: each layer moves 8 b s h a step "
        "and rank for "
        "it, data parallelism only 2 N.",
        only_if="the model fits with it, by 16 N bytes over all that shard it and 34 s b h / t a layer of activations",
        holds=lambda job: job.may_share_less(Purpose.TENSOR_PARALLEL),
    ),
    Advice(
        id="less_expert_parallelism",
        causes=_EXPOSED,
        sentence="Spread experts over fewer ranks: each layer with experts moves 8 b s h k (e - 1) / e bytes a step "
        "and micro-batch, there and back.",
        only_if="memory holds more experts on each",
        holds=lambda job: job.may_share_less(Purpose.EXPERT_PARALLEL),
    ),
    Advice(
        id="less_context_parallelism",
        causes=_EXPOSED,
        sentence="Share sequences over fewer ranks: each layer moves 12 b s w (c - 1) / (c t) bytes a step and "
        "micro-batch for keys and values of width w and their gradients.",
        only_if="memory holds the activations of longer parts: 34 s b h / (c t) bytes a layer",
        holds=lambda job: job.may_share_less(Purpose.CONTEXT_PARALLEL),
    ),
    Advice(
        id="share_inside_nodes",
        causes=_EXPOSED,
        sentence="Share the model inside nodes, by tensor or pipeline parallelism, so that data parallelism crosses "
        "nodes with shares of the gradients: over m nodes 2 N (m - 1) / m bytes a node in place of a ring's 2 N.",
        only_if="links inside nodes bear 8 b s h bytes a layer, step and rank",
        holds=lambda job: job.reduces and job.spans_nodes and not job.has_tensor_parallelism,
    ),
    Advice(
        id="rank_order",
        causes=_EXPOSED,
        sentence="Order ranks by topology, so that the parallelism with most bytes stays inside nodes.",
        holds=lambda job: job.spans_nodes,
    ),
    Advice(
        id="expert_library",
        causes=_EXPOSED,
        sentence="Dispatch tokens with a library for experts across nodes, such as DeepEP.",
        holds=lambda job: job.has_wide_expert_parallelism,
    ),
    Advice(
        id="check_fabric",
        causes=_SLOW,
        sentence="Look what NCCL chose and why (NCCL_DEBUG=INFO with NCCL_DEBUG_SUBSYS=INIT,GRAPH,NET): the transport, "
        "the number of channels, and adapters or NVLinks that are missing (nvidia-smi nvlink --status, ibstat).",
    ),
    Advice(
        id="allow_infiniband",
        causes=_SLOW,
        sentence="NCCL_IB_DISABLE=1 is set: without it NCCL uses InfiniBand or RoCE where the hosts have it.",
        holds=when_named,
    ),
    Advice(
        id="one_network",
        causes=_SLOW,
        sentence="Compare driver, container and device files of the hosts: one network must serve all ranks of a job.",
        holds=when_named,
    ),
    Advice(
        id="find_adapter",
        causes=_SLOW,
        sentence="If the hosts have InfiniBand, RoCE or the adapter of a cloud, see why NCCL does not find it: the "
        "driver, /dev/infiniband in the container, or the plugin of the network. If they have none, group ranks so "
        "that less is sent between hosts.",
        holds=when_named,
    ),
    Advice(
        id="gpu_direct",
        causes=_SLOW,
        sentence="NCCL prefers adapters near a GPU; where all of a GPU's are off, load nvidia-peermem or use DMA-BUF.",
        holds=when_named,
    ),
    Advice(
        id="own_stream",
        causes=frozenset({SAME_STREAM}),
        sentence="Let collectives run on a stream of their own (async_op=True, and wait only before the result "
        "is used).",
        only_if="computing that does not need the result could run meanwhile",
    ),
    Advice(
        id="fewer_channels",
        causes=frozenset({CONTENTION}),
        sentence="Give collectives fewer of the multiprocessors (NCCL_MAX_CTAS, NCCL_MAX_NCHANNELS), or move "
        "them to copy "
        "engines.",
        only_if="they still end in time with less",
    ),
    Advice(
        id="less_host_communication",
        causes=frozenset({Cause.HOST_COMMUNICATION.value}),
        sentence="Take barriers, object gathers and host messages out of the step, or overlap them with GPU work.",
    ),
)
