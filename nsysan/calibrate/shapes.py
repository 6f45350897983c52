"""Which products are measured: large squares, the projections of a transformer, and what a model or trace names."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path

import msgspec

from nsysan.model.ceilings import Transposes
from nsysan.model.errors import InputError
from nsysan.model.text import visible_text


class Shape(msgspec.Struct, frozen=True, order=True):
    """m x n x k in BLAS' column order: of a linear layer forward m is what comes out, n the tokens, k what goes in."""

    m: int
    n: int
    k: int
    transposes: Transposes = Transposes.TN


ANCHORS = tuple(Shape(side, side, side, way) for side in (4096, 8192) for way in Transposes)
"""Measured as bursts, too."""
_TOKENS = 4096


class Transformer(msgspec.Struct, frozen=True):
    """The sides of a model's layers."""

    hidden: int
    ffn: int
    heads: int
    kv_heads: int
    vocab: int

    def shapes(self, tokens: int) -> Iterator[Shape]:
        """Forward, data gradient and weight gradient of each projection."""
        head = self.hidden // self.heads
        sides = {
            (self.hidden + 2 * self.kv_heads * head, self.hidden),
            (self.hidden, self.hidden),
            (2 * self.ffn, self.hidden),
            (self.hidden, self.ffn),
            (self.vocab, self.hidden),
        }
        for out, into in sorted(sides):
            yield Shape(out, tokens, into, Transposes.TN)
            yield Shape(into, tokens, out, Transposes.NN)
            yield Shape(into, out, tokens, Transposes.NT)


_USUAL = Transformer(hidden=4096, ffn=14336, heads=32, kv_heads=8, vocab=128256)


def usual_shapes(*, is_quick: bool) -> tuple[Shape, ...]:
    """Anchors, a grid from small to large, and the projections of a model of eight billion parameters."""
    if is_quick:
        return (*ANCHORS, Shape(2048, 2048, 2048), Shape(14336, 4096, 4096))
    grid = (Shape(m, n, k) for m, n, k in product((1024, 4096, 16384), repeat=3))
    return tuple(dict.fromkeys((*ANCHORS, *grid, *_USUAL.shapes(_TOKENS))))


def shapes_of_model(path: Path) -> tuple[Shape, ...]:
    """The projections of the model whose Hugging Face ``config.json`` this is. Raises InputError where it is none."""
    try:
        config = json.loads(path.read_bytes())
        hidden, heads = _side(config, "hidden_size"), _side(config, "num_attention_heads")
        model = Transformer(
            hidden=hidden,
            ffn=_side(config, "intermediate_size"),
            heads=heads,
            kv_heads=_side(config, "num_key_value_heads", heads),
            vocab=_side(config, "vocab_size"),
        )
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{visible_text(path.name)} is no model's config.json: {visible_text(str(error))}.",
            "It needs hidden_size, intermediate_size, num_attention_heads and vocab_size, as Hugging Face writes them.",
        ) from error
    return tuple(model.shapes(_TOKENS))


def _side(config: object, name: str, missing: int | None = None) -> int:
    value = config.get(name, missing) if isinstance(config, Mapping) else None
    if not isinstance(value, int) or not 0 < value < 1 << 31:
        raise ValueError(f"{name} is {value!r}")
    return value
