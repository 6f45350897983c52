"""What a job costs, and what a faster step saves: GPU-hours and money."""

from __future__ import annotations

from nsysan.model.units import NS_PER_S

_S_PER_HOUR = 3600


def gpu_hours(world_size: int, step_ns: float, step_count: float = 1) -> float:
    """GPU-hours of so many steps."""
    return world_size * step_count * step_ns / NS_PER_S / _S_PER_HOUR


def saved_frac(recoverable_ns: float, step_ns: float) -> float:
    """The share of the cost that goes with R of a step T: R / T, less than the gain in speed T / (T - R) - 1."""
    return recoverable_ns / step_ns


def speed_up(recoverable_ns: float, step_ns: float) -> float:
    """How much faster the job is: T / (T - R) - 1. Raises ValueError where nothing would be left of the step."""
    if recoverable_ns >= step_ns:
        raise ValueError("a step cannot win all of itself")
    return step_ns / (step_ns - recoverable_ns) - 1


def more_wall_time(throughput_loss_frac: float) -> float:
    """How much longer a job takes that has lost so much of its throughput: 30 % less is 43 % more wall time."""
    return 1 / (1 - throughput_loss_frac) - 1
