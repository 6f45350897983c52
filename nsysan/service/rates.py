"""How often somebody may do something: so many times a minute, at once or spread."""

from __future__ import annotations

import time
from collections.abc import Callable

_MINUTE_S = 60.0
_MOST_KEYS = 10_000


class Rate:
    """A bucket for each key that fills by ``per_minute`` and holds as many. For one thread."""

    def __init__(self, per_minute: int, now_s: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._now_s = now_s
        self._buckets: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> bool:
        """Whether the key had something left, which is now less."""
        level = self._level(key)
        if len(self._buckets) >= _MOST_KEYS:
            self._forget()
        self._buckets[key] = (max(level - 1, 0.0), self._now_s())
        return level >= 1

    def _level(self, key: str) -> float:
        level, at_s = self._buckets.get(key, (float(self._per_minute), self._now_s()))
        return min(level + (self._now_s() - at_s) * self._per_minute / _MINUTE_S, float(self._per_minute))

    def _forget(self) -> None:
        """Forget those who have all left that they can have, or everybody where those are none."""
        kept = {key: bucket for key, bucket in self._buckets.items() if self._level(key) < self._per_minute}
        self._buckets = kept if len(kept) < _MOST_KEYS else {}
