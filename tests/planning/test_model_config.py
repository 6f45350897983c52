"""A model's shape from each of the three ways to describe it, and what of it refuses to be read."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from nsysan.model.errors import InputError, UsageError
from nsysan.planning.flop import Attention, flop_per_token
from nsysan.planning.limits import refuse_too_few_gpus
from nsysan.planning.mfu import Pace, conventions, utilisation
from nsysan.planning.model_config import parse_extra, parse_model
from nsysan.planning.model_shape import ModelShape, Recompute
from nsysan.planning.scaling import LoggedRate, StepParts, logged_efficiency, scaling
from tests.planning.test_published_figures import DEEPSEEK_V3, LLAMA_8B

LLAMA_CONFIG = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "hidden_act": "silu",
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
}
DEEPSEEK_CONFIG = {
    "model_type": "deepseek_v3",
    "hidden_size": 7168,
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "head_dim": 192,
    "intermediate_size": 18432,
    "hidden_act": "silu",
    "vocab_size": 129280,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
    "moe_intermediate_size": 2048,
    "first_k_dense_replace": 3,
    "num_nextn_predict_layers": 1,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
}
MEGATRON = """
------------------------ arguments ------------------------
  ffn_hidden_size ................................. 14336
  global_batch_size ............................... 1
  group_query_attention ........................... True
  hidden_size ..................................... 4096
  kv_channels ..................................... 128
  num_attention_heads ............................. 32
  num_experts ..................................... None
  num_layers ...................................... 32
  num_query_groups ................................ 8
  padded_vocab_size ............................... 128256
  params_dtype .................................... torch.bfloat16
  recompute_granularity ........................... None
  seq_length ...................................... 8192
  swiglu .......................................... True
  tensor_model_parallel_size ...................... 2
-------------------- end of arguments ---------------------
"""


def test_a_config_of_hugging_face_needs_sequence_and_batch_besides() -> None:
    # 131,072 positions are what the model bears, not what it was trained with
    plain = parse_model(json.dumps(LLAMA_CONFIG))
    told = parse_model(json.dumps(LLAMA_CONFIG), parse_extra(["sequence=8192", "global_batch=1"]))

    assert plain == replace(LLAMA_8B, sequence=None, global_batch=None, dtype="bfloat16")
    assert told == replace(LLAMA_8B, dtype="bfloat16")


def test_latent_attention_and_mixtures_are_read() -> None:
    extra = parse_extra(["sequence=4096", "global_batch=4096"])

    assert parse_model(json.dumps(DEEPSEEK_CONFIG), extra) == DEEPSEEK_V3


def test_arguments_of_megatron_say_it_all() -> None:
    assert parse_model(MEGATRON) == replace(LLAMA_8B, tensor_parallel=2, dtype="bfloat16")


def test_a_few_keys_do() -> None:
    keys = {"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 100, "sequence": 8, "recompute": "full"}

    assert parse_model(json.dumps(keys)) == ModelShape(
        layers=2,
        hidden=64,
        heads=4,
        kv_heads=4,
        head_size=16,
        ffn=256,
        is_gated=False,
        vocabulary=100,
        sequence=8,
        recompute=Recompute.FULL,
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "describes no model"),
        ("<html>", "describes no model"),
        ("[1, 2]", "This JSON describes no model"),
        ('{"layers": 2}', "lacks hidden, heads, vocabulary"),
        ('{"layers": "many", "hidden": 1, "heads": 1, "vocabulary": 1}', "which is no number"),
        ('{"layers": -2, "hidden": 1, "heads": 1, "vocabulary": 1}', "below zero"),
        ('{"layers": 2, "hidden": 1, "heads": 0, "vocabulary": 1}', "at least one"),
        ('{"layers": 1e400, "hidden": 1, "heads": 1, "vocabulary": 1}', "which is no number"),
        ('{"layers": 2, "hidden": 1, "heads": 1, "vocabulary": 1, "recompute": "some"}', "recompute is"),
        # neither is a number of layers
        ('{"layers": true, "hidden": 1, "heads": 1, "vocabulary": 1}', "layers is 'True', which is no number"),
        ('{"layers": [], "hidden": 1, "heads": 1, "vocabulary": 1}', "which is no number"),
        # a width for each layer, which differ: the first is not that of all
        ('{"layers": 2, "hidden": 1, "heads": 1, "vocabulary": 1, "ffn": [4, 8]}', "which is no number"),
        # its operations are more than the largest float
        (f'{{"layers": 2, "hidden": 1{"0" * 200}, "heads": 1, "vocabulary": 1}}', "more than any model has"),
        ("[" * 100_000, "describes no model"),
    ],
)
def test_what_is_no_model_is_refused_in_one_sentence(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        parse_model(text)


def test_a_width_for_each_layer_is_read_where_all_are_alike() -> None:
    config = {**LLAMA_CONFIG, "intermediate_size": [LLAMA_CONFIG["intermediate_size"]] * 32}

    assert parse_model(json.dumps(config)) == parse_model(json.dumps(LLAMA_CONFIG))


@pytest.mark.parametrize("piece", ["sequence", "tokens=5", "=3"])
def test_keys_that_mean_nothing_are_refused(piece: str) -> None:
    with pytest.raises(InputError, match="is no key of a model"):
        parse_extra([piece])


def test_key_heads_change_projections_alone() -> None:
    # C81: 8 of 32 key heads, so their projections are a quarter
    grouped, whole = (flop_per_token(shape, Attention.FULL) for shape in (LLAMA_8B, replace(LLAMA_8B, kv_heads=32)))

    assert grouped.scores == whole.scores
    keys = 3 * 32 * 4 * 4096 * 128
    assert (whole.projections - grouped.projections) == keys * (32 - 8)


def test_a_window_limits_what_a_token_sees() -> None:
    # of 8 tokens a window of 4 sees 1 + 2 + 3 + 4 x 5 = 26 in place of 36, in the limit 4 (1 - 4 / 16) = 3 a token
    full, windowed = (
        flop_per_token(replace(LLAMA_8B, sequence=8, window=window), Attention.CAUSAL).scores for window in (None, 4)
    )

    assert windowed / full == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    ("pieces", "says"),
    [
        (["sequence=0"], "sequence is 0, and is at least 1."),
        (["tensor_parallel=0"], "tensor_parallel is 0, and is at least 1."),
        (["experts=8", "top_k=9"], "top_k is 9, more than experts, which is 8."),
        (["micro_batch=8", "global_batch=1"], "micro_batch is 8, more than global_batch, which is 1."),
        (["micro_batch=3", "global_batch=8"], "micro_batch is 3, which does not divide global_batch, 8."),
        (["kv_heads=7"], "kv_heads is 7, which does not divide the 32 heads."),
        (["global_batch=1.5"], "global_batch is 1.5, which is no whole number."),
    ],
)
def test_what_no_model_can_be_is_refused_by_its_key(pieces: list[str], says: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_model(json.dumps(LLAMA_CONFIG), parse_extra(pieces))

    assert refused.value.message == says


def test_a_model_needs_as_many_gpus_as_it_is_spread_over() -> None:
    spread = replace(LLAMA_8B, tensor_parallel=4, pipeline_parallel=2)

    refuse_too_few_gpus(spread, 8)
    with pytest.raises(UsageError, match="tensor_parallel 4 x pipeline_parallel 2 needs 8 GPUs, and the job has 4"):
        refuse_too_few_gpus(spread, 4)
    with pytest.raises(UsageError, match="expert_parallel 16 needs 16 GPUs, and the job has 8"):
        refuse_too_few_gpus(replace(spread, expert_parallel=16), 8)


@pytest.mark.parametrize(
    ("activation", "is_gated"),
    [
        ({"model_type": "gemma", "hidden_act": "gelu"}, True),
        ({"model_type": "gemma2", "hidden_act": None, "hidden_activation": "gelu_pytorch_tanh"}, True),
        ({"model_type": "other", "hidden_act": None, "hidden_activation": "silu"}, True),
        ({"model_type": "starcoder2", "hidden_act": "gelu_pytorch_tanh"}, False),
        ({"model_type": "other", "hidden_act": "gelu"}, False),
    ],
)
def test_gemma_is_gated_by_any_name_of_its_activation(activation: dict[str, str], is_gated: bool) -> None:  # noqa: FBT001
    assert parse_model(json.dumps(LLAMA_CONFIG | activation)).is_gated is is_gated


def test_more_than_all_is_refused_with_the_suspect() -> None:
    # C79: ten times the tokens; C82: all experts in place of the active ones
    pace = Pace(1e9, 1, 989e12, "bf16, its data sheet")

    with pytest.raises(UsageError, match=r"MFU would be 191.\d %.*global_batch \(4\) or sequence \(8192\)"):
        utilisation(replace(LLAMA_8B, global_batch=4), pace, Attention.FULL)
    with pytest.raises(UsageError) as refused:
        utilisation(replace(LLAMA_8B, global_batch=4), pace, Attention.FULL)
    assert "1 GPUs of 9.89e+14 FLOP/s (bf16, its data sheet)" in (refused.value.hint or "")
    with pytest.raises(UsageError, match="top_k"):
        utilisation(replace(DEEPSEEK_V3, top_k=256), pace, Attention.CAUSAL)
    with pytest.raises(UsageError, match="parameters"):
        utilisation(replace(LLAMA_8B, parameters=10**12), pace, Attention.FULL)


def test_the_peak_is_dense_unless_told() -> None:
    # C78: 9,600 tokens a second at 0.05 TFLOP a token are 48.5 % of 989 and 24.3 % of the sparse 1,979
    assert [9_600 * 0.05 / peak for peak in (989, 1_979)] == pytest.approx([0.485, 0.243], abs=5e-4)


def test_conventions_are_told_with_the_number() -> None:
    assert conventions(replace(DEEPSEEK_V3, recompute=Recompute.FULL), Attention.CAUSAL) == (
        "projections, feed-forward and the head",
        "the half of the scores that the causal mask leaves",
        "8 of 256 experts and 1 shared",
        "padding counts as tokens, an embedding costs nothing",
        "HFU with full recomputation",
    )


def test_factors_of_scaling_multiply() -> None:
    # a step of 100 ms becomes 125: 5 slower compute, 10 transfer, 10 waiting
    small, large = StepParts(8, 100.0, 0.0, 0.0, None), StepParts(64, 105.0, 10.0, 10.0, None)

    found = scaling(small, large)

    assert found.efficiency == pytest.approx(100 / 125)
    assert found.compute == pytest.approx(100 / 105)
    assert found.exposed_communication == pytest.approx(105 / 115)
    assert found.waiting == pytest.approx(115 / 125)
    assert found.compute * found.exposed_communication * found.waiting == pytest.approx(found.efficiency)


@pytest.mark.parametrize(
    ("small", "large", "efficiency"),
    [
        (LoggedRate(1_800, is_of_one_gpu=True), LoggedRate(2_100, is_of_one_gpu=True), 2_100 / 1_800),
        (LoggedRate(1_800, is_of_one_gpu=False), LoggedRate(2_100, is_of_one_gpu=False), 2_100 / 3_600),
        (LoggedRate(1_800, is_of_one_gpu=False), LoggedRate(2_100, is_of_one_gpu=True), None),
        (None, LoggedRate(2_100, is_of_one_gpu=True), None),
    ],
)
def test_logs_tell_an_efficiency_where_they_tell_alike(
    small: LoggedRate | None, large: LoggedRate, efficiency: float | None
) -> None:
    parts = [StepParts(64, 1.0, 0.0, 0.0, None, small), StepParts(128, 1.0, 0.0, 0.0, None, large)]

    assert logged_efficiency(*parts) == (None if efficiency is None else pytest.approx(efficiency))


def test_strong_scaling_counts_time_a_token() -> None:
    # the same 800 tokens on twice the GPUs: half the time would be 1
    found = scaling(StepParts(1, 100.0, 0.0, 0.0, 800.0), StepParts(2, 60.0, 0.0, 0.0, 800.0))

    assert found.efficiency == pytest.approx(100 / (2 * 60))
