"""Whether measured ceilings tell anything of a traced GPU, and with what reserve."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone

import msgspec

from nsysan.hardware.data_sheets import GpuFacts, sheet_named, without_mig, words_of
from nsysan.model.ceilings import Ceilings, MeasuredGpu, Origin
from nsysan.model.units import NS_PER_S

_CLOCK_TOLERANCE = 0.02
_MEMORY_TOLERANCE = 0.02
_POWER_TOLERANCE = 0.05
_STALE_DAYS = 180
_NS_PER_DAY = 86_400 * NS_PER_S
_HOT = ("thermal", "hw_slowdown", "power_brake")


class Match(msgspec.Struct, frozen=True):
    """``refused``: why the file tells nothing of this GPU, None where it does; then what a reader must know of it."""

    refused: str | None
    warnings: tuple[str, ...] = ()


def match_gpu(ceilings: Ceilings, facts: GpuFacts, recorded_utc_ns: int | None) -> Match:
    """Whether the ceilings are of the model of this GPU: another model, capability or number of SMs is refused."""
    if facts.name is None:
        return Match("the trace does not tell which GPU it is of")
    reasons = [_difference(gpu, facts) for gpu in ceilings.gpus]
    if None not in reasons:
        return Match(next(filter(None, reasons), "the file names no GPU"))
    gpu = ceilings.gpus[reasons.index(None)]
    return Match(
        None,
        (
            *_of_origin(ceilings),
            *_of_state(gpu, facts),
            *_of_driver(ceilings, facts),
            *_of_age(ceilings, recorded_utc_ns),
        ),
    )


def _difference(gpu: MeasuredGpu, facts: GpuFacts) -> str | None:
    """Why a measured GPU is of another kind than the traced one, None where it is not."""
    name = facts.name or ""
    if _model(gpu.name) != _model(name):
        return f"measured on {gpu.name}, recorded on {name}"
    capability = None if facts.capability is None else "{}.{}".format(*facts.capability)
    if None not in {gpu.capability, capability} and gpu.capability != capability:
        return f"measured at compute capability {gpu.capability}, recorded at {capability}"
    if None not in {gpu.sm_count, facts.sm_count} and gpu.sm_count != facts.sm_count:
        return f"measured with {gpu.sm_count} SMs, recorded with {facts.sm_count}: one of them is a part of a GPU"
    return None


def _model(name: str) -> object:
    sheet = sheet_named(without_mig(name))
    return words_of(without_mig(name)) if sheet is None else sheet.model


def _of_origin(ceilings: Ceilings) -> Iterator[str]:
    if ceilings.origin is Origin.SIMULATED:
        yield "The ceilings are simulated from a data sheet: nothing was measured."
    if ceilings.origin is Origin.IMPORTED:
        yield f"The ceilings were measured by another tool: {ceilings.source}."
    if ceilings.forced:
        yield "The ceilings were measured although something spoke against it (--force)."
    if ceilings.origin is not Origin.SIMULATED:
        yield from ceilings.warnings
    everything = (*ceilings.gemm, *ceilings.memory, *ceilings.links)
    reasons = {reason for one in everything if one.conditions for reason in one.conditions.throttle_reasons}
    if hot := sorted(reason for reason in reasons if any(word in reason for word in _HOT)):
        yield f"While the ceilings were measured the GPU was held back: {', '.join(hot)}."


def _of_state(gpu: MeasuredGpu, facts: GpuFacts) -> Iterator[str]:
    if _differ(gpu.sm_clock_most_hz, facts.sm_clock_hz, _CLOCK_TOLERANCE):
        assert gpu.sm_clock_most_hz is not None
        assert facts.sm_clock_hz is not None
        yield (
            f"The highest SM clock was {gpu.sm_clock_most_hz / 1e6:.0f} MHz when measured and "
            f"{facts.sm_clock_hz / 1e6:.0f} MHz when recorded."
        )
    if _differ(gpu.memory_bytes, facts.memory_bytes, _MEMORY_TOLERANCE):
        yield "The GPU had another amount of memory when measured than when recorded."
    if _differ(gpu.power_limit_w, gpu.power_limit_default_w, _POWER_TOLERANCE):
        yield (
            f"Measured under a power limit of {gpu.power_limit_w:.0f} W, where {gpu.power_limit_default_w:.0f} W is "
            "the default; what the trace ran under is not known."
        )


def _of_driver(ceilings: Ceilings, facts: GpuFacts) -> Iterator[str]:
    """Releases of a branch, such as 580, bring the same code for the GPU."""
    one, other = ceilings.driver_version, facts.driver_version
    if one is not None and other is not None and one.partition(".")[0] != other.partition(".")[0]:
        yield f"Measured under driver {one}, recorded under {other}."


def _differ(one: float | None, other: float | None, tolerance: float) -> bool:
    return one is not None and other is not None and abs(one / other - 1) > tolerance


def _of_age(ceilings: Ceilings, recorded_utc_ns: int | None) -> Iterator[str]:
    created = None if ceilings.created_utc is None else _utc_ns(ceilings.created_utc)
    if created is None or recorded_utc_ns is None or ceilings.origin is Origin.SIMULATED:
        return
    days = abs(created - recorded_utc_ns) // _NS_PER_DAY
    if days > _STALE_DAYS:
        yield f"{days} days lie between measuring and recording: drivers and libraries may have changed."


def _utc_ns(text: str) -> int | None:
    try:
        moment = datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return int(moment.timestamp()) * NS_PER_S
