"""Samples as a median and how far they spread, and what about them should make a reader careful."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import ceil
from statistics import median
from typing import TYPE_CHECKING

from nsysan.model.ceilings import Conditions, Spread

if TYPE_CHECKING:
    from nsysan.calibrate._native import Reading

_KEPT_SAMPLES = 64
_UNSTABLE_FRAC = 0.05
_DRIFT_FRAC = 0.02
_FEWEST_FOR_DRIFT = 10
_REASONS = {
    0x02: "applications_clocks_setting",
    0x04: "sw_power_cap",
    0x08: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}
"""NVML's bits. Bit 0 is that the GPU idles, which holds nothing back."""


def spread_of(samples_ns: Sequence[float]) -> Spread:
    """Median (mean of the two middle values), nearest-rank percentiles, least, and median distance from the median."""
    ordered = sorted(samples_ns)
    middle = median(ordered)
    return Spread(
        count=len(ordered),
        median=middle,
        p5=_nearest_rank(ordered, 0.05),
        p95=_nearest_rank(ordered, 0.95),
        least=ordered[0],
        mad=median(abs(sample - middle) for sample in ordered),
        samples=tuple(round(sample, 1) for sample in samples_ns) if len(ordered) <= _KEPT_SAMPLES else (),
    )


def doubts(samples_ns: Sequence[float]) -> Iterator[str]:
    """Why the median of these samples, in the order they were taken, may not hold."""
    spread = spread_of(samples_ns)
    if spread.median and (spread.p95 - spread.p5) / spread.median > _UNSTABLE_FRAC:
        yield "unstable: samples are more than 5 % apart"
    half = len(samples_ns) // 2
    if len(samples_ns) >= _FEWEST_FOR_DRIFT and median(samples_ns[:half]):
        drift = median(samples_ns[half:]) / median(samples_ns[:half]) - 1
        if abs(drift) > _DRIFT_FRAC:
            yield f"drifting: the second half of the samples is {abs(drift):.1%} {'slower' if drift > 0 else 'faster'}"


def conditions_of(readings: Iterable[Reading]) -> Conditions | None:
    """How the GPU ran over these readings; None where there are none."""
    seen = list(readings)
    if not seen:
        return None
    sm_hz = [reading.sm_clock_mhz * 1e6 for reading in seen if reading.sm_clock_mhz]
    memory_hz = [reading.memory_clock_mhz * 1e6 for reading in seen if reading.memory_clock_mhz]
    power_w = [reading.power_mw / 1000 for reading in seen if reading.power_mw is not None]
    celsius = [float(reading.temperature_celsius) for reading in seen if reading.temperature_celsius is not None]
    reasons = 0
    for reading in seen:
        reasons |= reading.reasons or 0
    return Conditions(
        sm_clock_least_hz=min(sm_hz, default=None),
        sm_clock_mean_hz=_mean(sm_hz),
        memory_clock_hz=_mean(memory_hz),
        power_mean_w=_mean(power_w),
        temperature_most_celsius=max(celsius, default=None),
        throttle_reasons=tuple(name for bit, name in _REASONS.items() if reasons & bit),
    )


def _nearest_rank(ordered: Sequence[float], share: float) -> float:
    return ordered[max(ceil(share * len(ordered)), 1) - 1]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
