"""What ranges of operators tell of the matrices that they multiply: PyTorch writes the shapes of inputs into them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod

import msgspec
import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.ranges.names import SIZES, parse_operator
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import distinct
from nsysan.timeline.labelling import NOBODY, innermost

_NOT_LOOKED_FOR = NOBODY - 1
_MOST_SIDE = 1 << 40
"""A longer side is damage."""


class Sides(msgspec.Struct, frozen=True, order=True):
    """``batch`` products of an m x k and a k x n matrix."""

    m: int
    n: int
    k: int
    batch: int = 1

    @property
    def flop(self) -> int:
        """2 m n k of each product."""
        return 2 * self.batch * self.m * self.n * self.k


class ToldShapes:
    """The ranges of a report that tell what their operator multiplies, read once for all its devices."""

    def __init__(self, host: Host) -> None:
        self.host = host
        # texts that tell shapes are few, however many ranges have them
        texts = ((name_id, text) for name_id, text in host.trace.strings.items() if SIZES in text)
        told = ((name_id, sides_of_operator(text)) for name_id, text in texts)
        self._sides = {name_id: sides for name_id, sides in told if sides is not None}
        self._tells = np.isin(host.ranges.name_id, list(self._sides))

    @property
    def has_any(self) -> bool:
        """Whether there are such ranges."""
        return bool(self._sides)

    @cached_property
    def known_operators(self) -> IdArray:
        """By kernel the operator that was found for it, for those of which it was asked."""
        kernels = self.host.trace.kernels
        kind = np.int32 if len(self.host.ranges) <= np.iinfo(np.int32).max else np.int64
        return np.full(0 if kernels is None else len(kernels), _NOT_LOOKED_FOR, kind)

    def ranges_of(self, thread: int) -> Int64Array:
        """The rows of those on a thread, ascending."""
        rows = self.host.stacked_by_thread.of(thread)
        return np.sort(rows[self._tells[rows]])

    def names_of(self, operators: Int64Array) -> IdArray:
        """The texts of these ranges: ranges are many, their texts as few as shapes."""
        return self.host.ranges.name_id[operators]

    def sides_of(self, names: IdArray) -> list[Sides]:
        """What ranges of these texts multiply."""
        return [self._sides[name_id] for name_id in names.tolist()]


def operators_of(told: ToldShapes, kernel_rows: Int64Array) -> IdArray:
    """By kernel the innermost operator with known shapes around its call, on the call's thread; else ``NOBODY``."""
    if not told.has_any:
        return np.full(len(kernel_rows), NOBODY)
    asked = kernel_rows[told.known_operators[kernel_rows] == _NOT_LOOKED_FOR]
    if len(asked):
        told.known_operators[asked] = _look_for_operators(told, asked)
    return told.known_operators[kernel_rows]


def _look_for_operators(told: ToldShapes, kernel_rows: Int64Array) -> Int64Array:
    host, range_of = told.host, np.full(len(kernel_rows), NOBODY)
    if "kernels" not in host.launches.rows:
        return range_of
    calls = host.launches.rows["kernels"][kernel_rows]
    called = np.flatnonzero(calls != NO_CALL)
    threads = host.calls.global_tid[calls[called]]
    for thread in distinct(threads).tolist():
        ranges, own = told.ranges_of(thread), called[threads == thread]
        if len(ranges):
            labelling = innermost(host.ranges.start_ns[ranges], host.range_ends_ns[ranges])
            found = labelling.at(host.calls.start_ns[calls[own]])
            range_of[own] = np.where(found == NOBODY, NOBODY, ranges[np.maximum(found, 0)])
    return range_of


def sides_of_operator(text: str) -> Sides | None:
    """The product that an operator's range tells of: ``aten::mm, op_id = 7, sizes = [[8, 4], [4, 2]]``.

    None of other operators, and where the shapes do not fit each other.
    """
    parsed = parse_operator(text)
    shapes = [] if parsed.sizes is None else [shape for shape in parsed.sizes if isinstance(shape, list)]
    place = _FACTORS_AT.get(parsed.operator)
    factors = [] if place is None else shapes[place : place + 2]
    if len(factors) < 2 or not all(_is_shape(factor) for factor in factors):  # noqa: PLR2004 - two factors
        return None
    one, other = factors
    sides = _linear(one, other) if parsed.operator == "aten::linear" else _multiplied(one, other)
    return sides if sides is not None and min(sides.m, sides.n, sides.k, sides.batch) > 0 else None


_FACTORS_AT: Mapping[str, int] = {
    "aten::mm": 0,
    "aten::bmm": 0,
    "aten::addmm": 1,
    "aten::baddbmm": 1,
    "aten::_scaled_mm": 0,
    "aten::_int_mm": 0,
    "aten::linear": 0,
}
"""The operators that are one product, and which of their inputs are the factors."""


def _is_shape(shape: Sequence[object]) -> bool:
    return all(isinstance(side, int) and 0 <= side <= _MOST_SIDE for side in shape)


def _multiplied(one: Sequence[int], other: Sequence[int]) -> Sides | None:
    if len(one) != len(other) or len(one) not in {2, 3} or one[-1] != other[-2] or one[:-2] != other[:-2]:
        return None
    return Sides(m=one[-2], n=other[-1], k=one[-1], batch=prod(one[:-2]))


def _linear(inputs: Sequence[int], weight: Sequence[int]) -> Sides | None:
    """The weight of a linear layer has a row for each of what comes out."""
    if not inputs or len(weight) != 2 or inputs[-1] != weight[1]:  # noqa: PLR2004 - rows and columns
        return None
    return Sides(m=prod(inputs[:-1]), n=weight[0], k=weight[1])
