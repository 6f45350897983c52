"""What the keys of a model cannot be, each refused in a sentence that names the key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nsysan.model.errors import InputError, UsageError
from nsysan.planning.model_shape import ModelShape

_AT_LEAST_ONE = (
    "kv_heads",
    "head_size",
    "vocabulary",
    "sequence",
    "micro_batch",
    "global_batch",
    "tensor_parallel",
    "pipeline_parallel",
    "expert_parallel",
    "context_parallel",
    "data_parallel",
)
_AT_MOST = (("top_k", "experts"), ("kv_heads", "heads"), ("micro_batch", "global_batch"))
_HINT = "Mend it in the file, or give the key after it: config.json,sequence=4096."


def refuse_impossible(values: Mapping[str, Any]) -> None:
    """Raises InputError where the keys, by their names in ModelShape, contradict each other or what any model is."""
    for key in _AT_LEAST_ONE:
        if values.get(key) == 0:
            raise InputError(f"{key} is 0, and is at least 1.", _HINT)
    for less, more in _AT_MOST:
        if less in values and more in values and values[less] > values[more]:
            raise InputError(f"{less} is {values[less]}, more than {more}, which is {values[more]}.", _HINT)
    micro_batch, global_batch = values.get("micro_batch", 1), values.get("global_batch", 0)
    if global_batch % micro_batch:
        raise InputError(f"micro_batch is {micro_batch}, which does not divide global_batch, {global_batch}.", _HINT)
    heads, kv_heads = values["heads"], values.get("kv_heads", 1)
    if heads % kv_heads:
        raise InputError(f"kv_heads is {kv_heads}, which does not divide the {heads} heads.", _HINT)


def refuse_too_few_gpus(shape: ModelShape, world_size: int) -> None:
    """Raises UsageError where the model is spread over more GPUs than the whole job has."""
    spread = {
        "tensor_parallel": shape.tensor_parallel,
        "pipeline_parallel": shape.pipeline_parallel,
        "context_parallel": shape.context_parallel,
    }
    needed = shape.tensor_parallel * shape.pipeline_parallel * shape.context_parallel
    if shape.expert_parallel > max(needed, world_size):
        spread, needed = {"expert_parallel": shape.expert_parallel}, shape.expert_parallel
    if needed > world_size:
        told = " x ".join(f"{key} {ranks}" for key, ranks in spread.items() if ranks > 1)
        raise UsageError(
            f"{told} needs {needed} GPUs, and the job has {world_size}.",
            "Give --world-size where these reports are not of all ranks, or the degrees that the job ran with.",
        )
