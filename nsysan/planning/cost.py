"""What a job costs, and what a faster step saves: GPU-hours and money."""

from __future__ import annotations

from nsysan.model.units import NS_PER_S, S_PER_HOUR


def gpu_hours(world_size: int, step_ns: float, step_count: float = 1) -> float:
    """GPU-hours of so many steps."""
    return world_size * step_count * step_ns / NS_PER_S / S_PER_HOUR


def saved_frac(recoverable_ns: float, step_ns: float) -> float:
    """The share of the cost that goes with R of a step T: R / T, less than the gain in speed T / (T - R) - 1."""
    return recoverable_ns / step_ns
