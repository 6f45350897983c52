"""Model FLOP utilisation, with the conventions it was counted by."""

from __future__ import annotations

import msgspec

from nsysan.model.errors import UsageError
from nsysan.model.units import format_fraction
from nsysan.planning.flop import Attention, flop_per_token
from nsysan.planning.model_shape import ModelShape, Recompute


class Pace(msgspec.Struct, frozen=True):
    """How fast a job trains, and on what: ``peak_flop_per_s`` is of one GPU, dense, ``peak_of`` the type and source."""

    step_ns: float
    world_size: int
    peak_flop_per_s: float
    peak_of: str


class Utilisation(msgspec.Struct, frozen=True):
    """MFU and HFU by one convention of attention; ``flop_per_step`` is the model's."""

    attention: Attention
    flop_per_token: float
    flop_per_step: float
    mfu: float
    hfu: float


def utilisation(shape: ModelShape, pace: Pace, attention: Attention) -> Utilisation:
    """MFU = model FLOP of a step / (step x GPUs x peak); HFU with what is computed again.

    Raises UsageError where the batch is not known, and where HFU exceeds 1, which no input that is right gives.
    """
    tokens = shape.tokens_per_step
    if tokens is None:
        raise UsageError("The tokens of a step are not known.", "Give sequence and global_batch with --model.")
    found = flop_per_token(shape, attention)
    available = pace.step_ns / 1e9 * pace.world_size * pace.peak_flop_per_s
    mfu, hfu = tokens * found.model / available, tokens * found.hardware / available
    if hfu > 1:
        raise UsageError(
            f"MFU would be {format_fraction(mfu)} (HFU {format_fraction(hfu)}), which cannot be: {suspect(shape)} is "
            "wrong.",
            f"It is {tokens:,} tokens a step, {found.model:.4g} FLOP a token, {pace.world_size} GPUs of "
            f"{pace.peak_flop_per_s:.4g} FLOP/s ({pace.peak_of}) and a step of {pace.step_ns / 1e9:.6g} s.",
        )
    return Utilisation(attention, found.model, tokens * found.model, mfu, hfu)


def suspect(shape: ModelShape) -> str:
    """The input that is most often wrong where MFU exceeds what can be."""
    if shape.experts and shape.top_k in {0, shape.experts}:
        return "top_k, without which all experts count,"
    if shape.parameters is not None:
        return "parameters, of a mixture those that a token uses,"
    batch = f"global_batch ({shape.global_batch}) or sequence ({shape.sequence})"
    return f"{batch}, else the world size, the peak or its data type,"


def conventions(shape: ModelShape, attention: Attention) -> tuple[str, ...]:
    """What a reader must know to hold the number against another's."""
    scores = "the half of the scores that the causal mask leaves" if attention is Attention.CAUSAL else "all scores"
    matrices = "every parameter (6 N)" if shape.parameters is not None else "projections, feed-forward and the head"
    mixture = () if not shape.experts else (f"{shape.top_k} of {shape.experts} experts and {shape.shared} shared",)
    window = () if shape.window is None else (f"a window of {shape.window} tokens",)
    again = () if shape.recompute is Recompute.NONE else (f"HFU with {shape.recompute.value} recomputation",)
    return (matrices, scores, *mixture, *window, "padding counts as tokens, an embedding costs nothing", *again)
