"""Axes of charts: a few round figures, and the end."""

from __future__ import annotations

import math

from nsysan.model.units import duration_unit, format_duration
from nsysan.report.elements import Tick, percent

_MOST_TICKS = 7
_LAST_ROUND_TICK = 0.88  # beyond it the label would touch the one at the end
_LAST_ROUND_TICK_OF_PHONE = 0.7
_MOST_LEVELS = 6


def time_axis(window_ns: int) -> tuple[Tick, ...]:
    """Ticks at round times from 0 to the end of the window, in the unit of the window."""
    if window_ns <= 0:
        return ()
    unit_ns, _ = duration_unit(window_ns)
    step = _round_step(window_ns / unit_ns / _MOST_TICKS)
    shares = [(index * step, index * step * unit_ns / window_ns) for index in range(1, _MOST_TICKS + 1)]
    middle = (
        Tick(percent(share), f"{value:,.10g}", "middle", share >= _LAST_ROUND_TICK_OF_PHONE)
        for value, share in shares
        if share < _LAST_ROUND_TICK
    )
    return (Tick("0%", "0", "start"), *middle, Tick("100%", format_duration(window_ns), "end"))


def share_axis() -> tuple[Tick, ...]:
    """Ticks every 20 %."""
    middle = (Tick(f"{share}%", f"{share}", "middle") for share in range(20, 100, 20))
    return (Tick("0%", "0", "start"), *middle, Tick("100%", "100 %", "end"))


def round_levels(least: float, most: float) -> list[float]:
    """Round values from below the least to above the most: 1, 2 and 5 times powers of ten, of many the powers alone."""
    powers = range(math.floor(math.log10(least)) - 1, math.ceil(math.log10(most)) + 1)
    every = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    inside = every[max(place for place, value in enumerate(every) if value < least) :]
    inside = inside[: 1 + next(place for place, value in enumerate(inside) if value >= most)]
    if len(inside) <= _MOST_LEVELS:
        return inside
    first, last = math.floor(math.log10(least)), math.ceil(math.log10(most))
    apart = -(-(last - first) // _MOST_LEVELS)
    return [10.0**power for power in range(first, last + apart, apart)]


def _round_step(target: float) -> float:
    """The smallest of 1, 2 or 5 times a power of ten that is at least ``target``."""
    magnitude = 10.0 ** math.floor(math.log10(target))
    return next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= target)
