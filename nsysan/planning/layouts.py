"""How a model is laid out over GPUs: what one of them sends in a step and what it holds, by formula.

Numbers of 16 bits; N weights of a GPU, b sequences of s tokens in a micro-batch, m of them a step, width h:

- data parallel over d: 2 N numbers (d - 1) / d, a reduction of gradients;
- tensor parallel over t: 4 all-reduces of b s h a layer and micro-batch, each twice (t - 1) / t;
- pipeline: b s h each way over a boundary and micro-batch;
- experts over e: 4 all-to-alls of b s h k a layer and micro-batch, each (e - 1) / e, for k experts a token;
- parts of a sequence over c: in attention the keys and values of each part go around all ranks forward, and with their
  gradients backward, 3 x 2 b s w / t a layer and micro-batch, w being the width of all key heads, each (c - 1) / c;
- memory: 16 bytes a weight (Adam in mixed precision, ZeRO-0) and the activations of all layers, for the first stage of
  a pipeline holds as many; scores are not kept, and sequences shared where tensors are.

Parallelism over parts of a sequence divides s elsewhere, and gradients are reduced over all d c ranks.
"""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.model.purposes import Purpose
from nsysan.planning.memory import activation_bytes_per_layer, state_bytes
from nsysan.planning.model_shape import ModelShape

_BYTES = 2
_DEGREES = {
    Purpose.TENSOR_PARALLEL: "tensor_parallel",
    Purpose.PIPELINE_PARALLEL: "pipeline_parallel",
    Purpose.EXPERT_PARALLEL: "expert_parallel",
    Purpose.CONTEXT_PARALLEL: "context_parallel",
    Purpose.DATA_PARALLEL: "data_parallel",
}
"""What of a shape says over how many ranks something is shared."""


def laid_out(shape: ModelShape, world_size: int) -> ModelShape | None:
    """The shape with its data parallelism over so many GPUs; None where batches are unknown or do not divide."""
    apart = shape.tensor_parallel * shape.pipeline_parallel * shape.context_parallel
    data_parallel = world_size // apart
    if None in {shape.sequence, shape.micro_batch, shape.global_batch} or data_parallel * apart != world_size:
        return None
    found = replace(shape, data_parallel=data_parallel)
    return found if micro_batch_count(found) >= 1 else None


def degree(shape: ModelShape, purpose: Purpose) -> int:
    """Over how many ranks the shape shares what the purpose names."""
    found: int | None = getattr(shape, _DEGREES[purpose])
    return found or 1


def rank_count(shape: ModelShape, purpose: Purpose) -> int:
    """How many ranks communicate for the purpose: gradients also those that have other parts of the sequences."""
    ranks = degree(shape, purpose)
    return ranks * shape.context_parallel if purpose is Purpose.DATA_PARALLEL else ranks


def halved(shape: ModelShape, purpose: Purpose) -> ModelShape | None:
    """The layout that shares this over half as many ranks, and data over the more that are left; None: it cannot."""
    ranks, data_parallel = degree(shape, purpose), 2 * degree(shape, Purpose.DATA_PARALLEL)
    if ranks % 2:
        return None
    if purpose is Purpose.TENSOR_PARALLEL:
        fewer = replace(shape, tensor_parallel=ranks // 2, data_parallel=data_parallel)
    elif purpose is Purpose.PIPELINE_PARALLEL:
        fewer = replace(shape, pipeline_parallel=ranks // 2, data_parallel=data_parallel)
    elif purpose is Purpose.CONTEXT_PARALLEL:
        fewer = replace(shape, context_parallel=ranks // 2, data_parallel=data_parallel)
    elif purpose is Purpose.EXPERT_PARALLEL:
        # experts are spread over ranks that share data
        fewer = replace(shape, expert_parallel=ranks // 2)
    else:
        return None
    return fewer if micro_batch_count(fewer) >= 1 else None


def micro_batch_count(shape: ModelShape) -> float:
    """How many micro-batches a rank runs in a step."""
    return (shape.global_batch or 0) / ((shape.micro_batch or 1) * degree(shape, Purpose.DATA_PARALLEL))


def parameters_of_gpu(shape: ModelShape) -> float:
    """Weights of one GPU: its share of the layers, and of the embedding and the head; of experts those it has."""
    shared = shape.tensor_parallel * shape.pipeline_parallel
    if shape.parameters is not None:
        return shape.parameters / shared
    heads = 2 * (shape.heads + shape.kv_heads) * shape.head_size
    matrices = 3 if shape.is_gated else 2
    dense_layers = shape.dense_layers if shape.experts else shape.layers
    experts = shape.experts / shape.expert_parallel + shape.shared
    feed_forward = matrices * (dense_layers * shape.ffn + (shape.layers - dense_layers) * experts * shape.expert_ffn)
    return shape.hidden * (shape.layers * heads + feed_forward + 2 * shape.vocabulary) / shared


def message_bytes(shape: ModelShape, purpose: Purpose) -> float:
    """The array of one collective (nccl-tests' S), or of one message of a pipeline."""
    if purpose is Purpose.DATA_PARALLEL:
        return _BYTES * parameters_of_gpu(shape)
    tokens = (shape.micro_batch or 0) * (shape.sequence or 0) / shape.context_parallel
    if purpose is Purpose.CONTEXT_PARALLEL:
        return _BYTES * tokens * 2 * shape.kv_heads * shape.head_size / shape.tensor_parallel
    copies = shape.top_k if purpose is Purpose.EXPERT_PARALLEL else 1
    return _BYTES * tokens * shape.hidden * copies


def sent_bytes(shape: ModelShape) -> dict[Purpose, float]:
    """What a GPU sends in a step for each purpose that has several ranks, as nccl-tests counts bus bandwidth."""
    micro_batches, layers = micro_batch_count(shape), shape.layers / shape.pipeline_parallel
    mixed = (shape.layers - shape.dense_layers) / shape.pipeline_parallel if shape.experts else 0
    counts = {
        Purpose.DATA_PARALLEL: 2.0,
        Purpose.TENSOR_PARALLEL: 8 * layers * micro_batches,
        Purpose.PIPELINE_PARALLEL: 2 * micro_batches,
        Purpose.EXPERT_PARALLEL: 4 * mixed * micro_batches,
        Purpose.CONTEXT_PARALLEL: 3 * layers * micro_batches * shape.context_parallel,
    }
    return {
        purpose: count * message_bytes(shape, purpose) * _others_frac(shape, purpose)
        for purpose, count in counts.items()
        if rank_count(shape, purpose) > 1
    }


def held_bytes(shape: ModelShape) -> float:
    """Weights, gradients, optimizer states and activations of one GPU."""
    of_layer = activation_bytes_per_layer(shape, is_sequence_parallel=shape.tensor_parallel > 1, keeps_scores=False)
    return state_bytes(parameters_of_gpu(shape), 0, 1) + shape.layers * of_layer / shape.context_parallel


def _others_frac(shape: ModelShape, purpose: Purpose) -> float:
    """Of a shared array what is not a rank's own; a message is sent whole."""
    ranks = rank_count(shape, purpose)
    return 1.0 if purpose is Purpose.PIPELINE_PARALLEL else (ranks - 1) / ranks
