"""A whole calibration: every measurement that can run here, and why the others cannot."""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence

from msgspec.structs import replace

import nsysan.calibrate.measurements
from nsysan import __version__
from nsysan.calibrate.bench import Bench, Figures, Measurement
from nsysan.calibrate.libraries import native
from nsysan.calibrate.machine import environment, host_facts, measured_gpus, objections, topology
from nsysan.hardware.data_sheets import GpuFacts, sheet_of, upper_bounds
from nsysan.model.ceilings import SCHEMA_VERSION, Ceilings, GemmCeiling, Origin
from nsysan.model.clock import now_utc
from nsysan.model.errors import MissingToolError, UndecidableError, UsageError
from nsysan.model.registry import discover
from nsysan.model.text import display_text

_IMPLAUSIBLE_FRAC = 1.02


def measurements(only: Sequence[str] = ()) -> tuple[Measurement, ...]:
    """Those of these ids, all where none is named. Raises UsageError where there is no such measurement."""
    known = {one.id: one for one in discover(nsysan.calibrate.measurements, "MEASUREMENT", Measurement)}
    if unknown := [name for name in only if name not in known]:
        raise UsageError(
            f"There is no measurement {display_text(unknown[0])!r}.", f"Measurements: {', '.join(sorted(known))}."
        )
    return tuple(one for name, one in known.items() if not only or name in only)


def estimate_s(bench: Bench, wanted: Sequence[Measurement]) -> float:
    """About how many seconds it takes."""
    return sum(one.estimate_s(bench) for one in wanted)


def calibrate(bench: Bench, wanted: Sequence[Measurement], *, force: bool) -> Ceilings:
    """What the machine reaches. What cannot run here is waived with its reason.

    Raises MissingToolError where there is no GPU or driver, UndecidableError where something speaks against measuring
    and ``force`` is not given.
    """
    begun_s, created = time.monotonic(), now_utc()
    salt = secrets.token_hex(8)
    against = list(objections(bench))
    if against and not force:
        raise UndecidableError(
            f"What is measured now would tell little: {'; '.join(against)}.", "Free the GPU, or give --force."
        )
    found = Figures()
    for measurement in wanted:
        found += _measured(bench, measurement)
    ceilings = Ceilings(
        schema_version=SCHEMA_VERSION,
        nsysan_version=__version__,
        origin=Origin.MEASURED,
        source=f"nsysan {__version__} calibrate{' --quick' if bench.effort.is_quick else ''}",
        created_utc=created,
        gpus=measured_gpus(bench, salt),
        gemm=found.gemm,
        memory=found.memory,
        links=found.links,
        launches=found.launches,
        collectives=found.collectives,
        salt=salt,
        warnings=tuple(against),
        forced=bool(against),
        driver_version=None if bench.nvml is None else bench.nvml.driver_version,
        cuda_version=f"{bench.driver.version // 1000}.{bench.driver.version % 1000 // 10}",
        libraries=tuple(bench.libraries.values()),
        environment=environment(),
        host=host_facts(),
        topology=topology(bench),
        duration_s=round(time.monotonic() - begun_s, 1),
    )
    return replace(_without_implausible(bench, ceilings), waived=tuple(dict.fromkeys(bench.waived)))


def _measured(bench: Bench, measurement: Measurement) -> Figures:
    try:
        return measurement.measure(bench)
    except (MissingToolError, native().CallFailedError, native().StalledError) as error:
        bench.waive(measurement.id, str(error))
        return Figures()


def _without_implausible(bench: Bench, ceilings: Ceilings) -> Ceilings:
    """Without products above what sheet and clock allow: no GPU can do them, so they were measured wrongly."""
    gpu = ceilings.gpus[0]
    facts = GpuFacts(gpu.name, gpu.sm_count, bench.device.facts.capability, gpu.sm_clock_most_hz)
    sheet = sheet_of(facts)
    if sheet is None:
        return ceilings
    bounds = upper_bounds(sheet, gpu.sm_clock_most_hz)
    kept = []
    for one in ceilings.gemm:
        bound = bounds.get(one.dtype)
        if bound is None or one.flop_per_s <= _IMPLAUSIBLE_FRAC * bound:
            kept.append(one)
        else:
            reason = f"{one.flop_per_s / 1e12:.1f} TFLOP/s is more than the {bound / 1e12:.1f} that the GPU can do"
            bench.waive(_name(one), reason)
    return replace(ceilings, gemm=tuple(kept))


def _name(one: GemmCeiling) -> str:
    return f"gemm {one.dtype.value} {one.m} x {one.n} x {one.k} {one.transposes.value}"
