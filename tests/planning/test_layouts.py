"""What a layout sends and holds, against arithmetic and the published memory of one layer."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nsysan.model.purposes import Purpose
from nsysan.planning.layouts import halved, held_bytes, laid_out, micro_batch_count, parameters_of_gpu, sent_bytes
from nsysan.planning.model_shape import ModelShape

GPT_3 = ModelShape(
    layers=96,
    hidden=12_288,
    heads=96,
    kv_heads=96,
    head_size=128,
    ffn=49_152,
    is_gated=False,
    vocabulary=51_200,
    sequence=2_048,
    micro_batch=1,
    global_batch=64,
    tensor_parallel=8,
    pipeline_parallel=2,
)


def of(shape: ModelShape, world_size: int) -> ModelShape:
    found = laid_out(shape, world_size)
    assert found is not None
    return found


def test_gpt_3_over_64_gpus() -> None:
    # 8 x 2 share the model, so 4 share data and run 16 micro-batches each
    shape = of(GPT_3, 64)
    weights = (96 * 12 * 12_288**2 + 2 * 51_200 * 12_288) / 16
    message = 2 * 2_048 * 12_288

    assert (shape.data_parallel, micro_batch_count(shape)) == (4, 16)
    assert parameters_of_gpu(shape) == weights
    assert sent_bytes(shape) == {
        Purpose.DATA_PARALLEL: 2 * 2 * weights * 3 / 4,
        Purpose.TENSOR_PARALLEL: 4 * 48 * 16 * message * 2 * 7 / 8,
        Purpose.PIPELINE_PARALLEL: 2 * 16 * message,
    }
    # Korthikanti et al.: 0.107 GB a layer with tensors, sequences and selective recomputation over 8
    assert held_bytes(shape) == pytest.approx(16 * weights + 96 * 0.107e9, rel=0.001)


def test_fewer_ranks_for_tensors_send_less_and_hold_more() -> None:
    shape = of(GPT_3, 64)
    fewer = halved(shape, Purpose.TENSOR_PARALLEL)

    assert fewer is not None
    assert (fewer.tensor_parallel, fewer.data_parallel) == (4, 8)
    assert sum(sent_bytes(fewer).values()) < sum(sent_bytes(shape).values())
    assert held_bytes(fewer) == pytest.approx(2 * held_bytes(shape))


def test_experts_are_spread_over_ranks_that_share_data() -> None:
    mixture = replace(
        GPT_3, tensor_parallel=1, pipeline_parallel=1, experts=8, top_k=2, expert_ffn=4_096, expert_parallel=8
    )
    shape = of(mixture, 8)

    assert sent_bytes(shape)[Purpose.EXPERT_PARALLEL] == 4 * 96 * 8 * (2 * 2_048 * 12_288 * 2) * 7 / 8
    assert halved(shape, Purpose.EXPERT_PARALLEL) == replace(shape, expert_parallel=4)
    assert parameters_of_gpu(replace(shape, expert_parallel=4)) - parameters_of_gpu(shape) == (
        96 * 12_288 * 2 * 4_096 * (2 - 1)
    )


def test_parts_of_sequences_pass_keys_and_values_around() -> None:
    # 2 stages of 48 layers, over 4 parts of 512 tokens; 8 key heads of 128 over 8 ranks that share tensors
    shape = of(replace(GPT_3, kv_heads=8, context_parallel=4), 64)
    passed = 3 * 3 * 48 * 64 * (512 * 2 * 8 * 128 // 8) * 2

    assert (shape.data_parallel, micro_batch_count(shape)) == (1, 64)
    assert sent_bytes(shape)[Purpose.CONTEXT_PARALLEL] == passed
    assert sent_bytes(shape)[Purpose.TENSOR_PARALLEL] == 4 * 48 * 64 * (2 * 512 * 12_288) * 2 * 7 / 8
    # gradients are reduced over all 4, though nobody else shares data
    assert sent_bytes(shape)[Purpose.DATA_PARALLEL] == 2 * 2 * parameters_of_gpu(shape) * 3 / 4
    fewer = halved(shape, Purpose.CONTEXT_PARALLEL)
    assert fewer is not None
    assert (fewer.context_parallel, fewer.data_parallel, micro_batch_count(fewer)) == (2, 2, 32)
    # 1 / 2 in place of 3 / 4 of as much, for half as many micro-batches of twice as long parts
    assert sent_bytes(fewer)[Purpose.CONTEXT_PARALLEL] == passed / 3
    assert held_bytes(fewer) > held_bytes(shape)


@pytest.mark.parametrize(
    ("shape", "world_size"), [(replace(GPT_3, micro_batch=None), 64), (GPT_3, 40), (replace(GPT_3, global_batch=2), 64)]
)
def test_a_layout_that_is_not_known_or_cannot_be_is_none(shape: ModelShape, world_size: int) -> None:
    assert laid_out(shape, world_size) is None


def test_what_cannot_be_halved() -> None:
    shape = of(replace(GPT_3, pipeline_parallel=1, global_batch=8), 64)

    assert halved(shape, Purpose.PIPELINE_PARALLEL) is None
    assert halved(shape, Purpose.DATA_PARALLEL) is None
    # 8 ranks have a micro-batch each, 16 have not
    assert halved(shape, Purpose.TENSOR_PARALLEL) is None
