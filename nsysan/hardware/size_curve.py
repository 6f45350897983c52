"""A time that grows with the size of what is moved, known at some sizes."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable

import msgspec

_SAME_SIZE = 1e-3


class SizeCurve(msgspec.Struct, frozen=True):
    """Times by size, sizes ascending."""

    sizes_bytes: tuple[int, ...]
    times_ns: tuple[float, ...]

    @classmethod
    def of(cls, points: Iterable[tuple[int, float]]) -> SizeCurve:
        """The curve through points of size and time; of two of one size the faster counts."""
        fastest: dict[int, float] = {}
        for size_bytes, time_ns in points:
            fastest[size_bytes] = min(time_ns, fastest.get(size_bytes, math.inf))
        sizes = tuple(sorted(fastest))
        return cls(sizes, tuple(fastest[size] for size in sizes))

    def has(self, size_bytes: int) -> bool:
        """Whether this size was measured."""
        return any(abs(known / size_bytes - 1) <= _SAME_SIZE for known in self.sizes_bytes)

    def time_ns(self, size_bytes: int) -> float | None:
        """The time of a size, between measured ones on a straight line of logarithms; None outside of them."""
        if not self.sizes_bytes or not self.sizes_bytes[0] <= size_bytes <= self.sizes_bytes[-1]:
            return None
        above = bisect_left(self.sizes_bytes, size_bytes)
        if self.sizes_bytes[above] == size_bytes:
            return self.times_ns[above]
        low, high = self.sizes_bytes[above - 1], self.sizes_bytes[above]
        share = math.log(size_bytes / low) / math.log(high / low)
        return float(self.times_ns[above - 1] * (self.times_ns[above] / self.times_ns[above - 1]) ** share)
