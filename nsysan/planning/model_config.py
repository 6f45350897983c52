"""A model's shape from what describes it: Hugging Face's config.json, Megatron's arguments, or a few keys."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from nsysan.model.errors import InputError
from nsysan.model.text import visible_text
from nsysan.planning.limits import refuse_impossible
from nsysan.planning.model_shape import LatentAttention, ModelShape, Recompute

_ARGUMENT = re.compile(r"^[^\n]*?(\w+) \.{3,} (.*?)\s*$", re.MULTILINE)
"""A line of Megatron's log: ``num_layers ...... 32``."""
_SPELLINGS = {
    "layers": ("num_hidden_layers", "num_layers", "n_layer", "n_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "kv_heads": ("num_key_value_heads", "num_query_groups", "n_kv_heads"),
    "head_size": ("head_dim", "kv_channels"),
    "ffn": ("intermediate_size", "ffn_hidden_size", "n_inner"),
    "vocabulary": ("padded_vocab_size", "vocab_size"),
    "experts": ("n_routed_experts", "num_local_experts", "num_experts"),
    "top_k": ("num_experts_per_tok", "moe_router_topk"),
    "shared": ("n_shared_experts",),
    "expert_ffn": ("moe_intermediate_size", "moe_ffn_hidden_size"),
    "dense_layers": ("first_k_dense_replace",),
    "extra_head_count": ("num_nextn_predict_layers", "mtp_num_layers"),
    "window": ("sliding_window", "window_size"),
    "sequence": ("seq_length",),
    "micro_batch": ("micro_batch_size",),
    "global_batch": ("global_batch_size",),
    "tensor_parallel": ("tensor_model_parallel_size",),
    "pipeline_parallel": ("pipeline_model_parallel_size",),
    "expert_parallel": ("expert_model_parallel_size",),
    "context_parallel": ("context_parallel_size",),
    "data_parallel": ("data_parallel_size",),
    "dtype": ("torch_dtype", "params_dtype"),
    "parameters": (),
}
_GATED = {"silu", "swiglu", "swish", "gelu_pytorch_tanh", "geglu"}
_PLAIN_MODELS = {"gpt2", "gpt_neox", "opt", "bloom", "falcon", "phi", "starcoder2"}
_GATED_FAMILY = "gemma"
"""Their activation has the name of a plain one."""
_NEEDED = ("layers", "hidden", "heads", "vocabulary")
_TEXTS = {"dtype"}
_LARGEST = 2**53
"""Up to here a whole number is exact as a float, and products of them stay far from the largest float."""
_HINT = (
    "Give Hugging Face's config.json, a log of Megatron's arguments, or JSON with keys such as layers, hidden, heads, "
    "kv_heads, ffn, vocabulary, sequence and global_batch; more keys may follow the file: config.json,sequence=4096."
)


def parse_model(text: str, extra: Mapping[str, str] | None = None) -> ModelShape:
    """The model that the text describes; ``extra`` are keys that it lacks, or that are to replace its own.

    Raises InputError where it is none of the three, or leaves out what the operations depend on.
    """
    known = {**_described(text), **(extra or {})}
    values = {key: value for key in _SPELLINGS if (value := _value(known, key)) is not None}
    if missing := [key for key in _NEEDED if key not in values]:
        raise InputError(f"The model lacks {', '.join(missing)}.", _HINT)
    return ModelShape(**_completed(values, known))


def parse_extra(pieces: list[str]) -> dict[str, str]:
    """Keys given as ``key=value``. Raises InputError where one is not so, or has no meaning."""
    found = {}
    names = {*ModelShape.__struct_fields__, "gated"}
    for piece in pieces:
        key, sign, value = piece.partition("=")
        if not sign or key.strip() not in names:
            raise InputError(f"{visible_text(piece)!r} is no key of a model.", f"Keys: {', '.join(sorted(names))}.")
        found[key.strip()] = value.strip()
    return found


def _described(text: str) -> Mapping[str, Any]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        arguments = dict(_ARGUMENT.findall(text))
        if not arguments:
            raise InputError("This describes no model: it is neither JSON nor Megatron's arguments.", _HINT) from None
        return arguments
    if not isinstance(document, dict):
        raise InputError("This JSON describes no model.", _HINT)
    # of a model for text and images the part that reads text
    nested = document.get("text_config")
    return {**document, **nested} if isinstance(nested, dict) else document


def _value(known: Mapping[str, Any], key: str) -> int | str | None:
    """The key's value under any of its names; null where it is absent or says none."""
    for name in (key, *_SPELLINGS[key]):
        value = known.get(name)
        if value is None or value is False or value in ("None", "null", ""):
            continue
        if key in _TEXTS:
            return visible_text(str(value)).removeprefix("torch.")
        return _number(name, value)
    return None


def _number(name: str, value: Any) -> int:
    try:
        # true would count as 1
        told = math.nan if isinstance(value, bool) else float(_same_for_all_layers(value))
        number = int(told)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} is {visible_text(str(value)[:40])!r}, which is no number.", _HINT) from None
    if number != told:
        raise InputError(f"{name} is {told:g}, which is no whole number.", _HINT)
    if number < 0:
        raise InputError(f"{name} is below zero.", _HINT)
    if number > _LARGEST:
        raise InputError(f"{name} is {told:g}, more than any model has.", _HINT)
    return number


def _same_for_all_layers(value: Any) -> Any:
    """The value; of a list of them, one a layer, the one that all are. Raises ValueError where they differ."""
    if not isinstance(value, (list, tuple)):
        return value
    if not value or any(one != value[0] for one in value):
        raise ValueError
    return value[0]


def _completed(values: dict[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """What the keys leave to be understood: as many key heads as heads, a head's share of the hidden size and so on."""
    heads, hidden = values["heads"], values["hidden"]
    if not heads or not hidden or not values["layers"]:
        raise InputError("A model has at least one layer, one head and a hidden size.", _HINT)
    if known.get("group_query_attention") in {False, "False"}:
        values.pop("kv_heads", None)
    refuse_impossible(values)
    values.setdefault("kv_heads", heads)
    values.setdefault("head_size", hidden // heads)
    values.setdefault("ffn", 4 * hidden)
    if known.get("use_sliding_window") in {False, "False"}:
        values.pop("window", None)
    if values.get("experts"):
        values.setdefault("expert_ffn", values["ffn"])
        values.setdefault("top_k", values["experts"])
    values["is_gated"] = _is_gated(known)
    values["recompute"] = _recompute(known)
    values["latent"] = _latent(known)
    return values


def _is_gated(known: Mapping[str, Any]) -> bool:
    told = known.get("gated", known.get("swiglu"))
    if told is not None:
        return str(told).lower() in {"true", "1"}
    if known.get("model_type") in _PLAIN_MODELS:
        return False
    if str(known.get("model_type", "")).startswith(_GATED_FAMILY):
        return True
    return str(known.get("hidden_act") or known.get("hidden_activation")).lower() in _GATED


def _recompute(known: Mapping[str, Any]) -> Recompute:
    told = str(known.get("recompute", known.get("recompute_granularity")) or "none").lower()
    try:
        return Recompute(told)
    except ValueError:
        raise InputError(f"recompute is {visible_text(told)!r}.", "It is none, selective or full.") from None


def _latent(known: Mapping[str, Any]) -> LatentAttention | None:
    if known.get("kv_lora_rank") in {None, "None"}:
        return None
    rank = known.get("q_lora_rank")
    plain = known.get("qk_nope_head_dim", known.get("qk_head_dim"))
    rotary = known.get("qk_rope_head_dim", known.get("qk_pos_emb_head_dim"))
    return LatentAttention(
        query_rank=None if rank in {None, "None"} else _number("q_lora_rank", rank),
        key_value_rank=_number("kv_lora_rank", known["kv_lora_rank"]),
        plain_head=_number("qk_nope_head_dim", plain),
        rotary_head=_number("qk_rope_head_dim", rotary),
        value_head=_number("v_head_dim", known.get("v_head_dim")),
    )
