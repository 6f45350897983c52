"""What stands beside the figures: the GPUs and their settings, how they are joined, and what the environment sets."""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nsysan.calibrate.bench import Bench
from nsysan.calibrate.libraries import native
from nsysan.calibrate.spread import conditions_of
from nsysan.model.ceilings import MeasuredGpu, Topology
from nsysan.model.settings import shown_setting
from nsysan.model.text import display_text

_PREFIXES = ("NCCL_", "CUBLAS", "CUDA_", "NVIDIA_TF32_OVERRIDE")
_ANCESTORS = {0: "SELF", 10: "PIX", 20: "PXB", 30: "PHB", 40: "NODE", 50: "SYS"}
"""NVML's levels in the words of ``nvidia-smi topo``."""
_SELF = "X"
_JOINED = "NV"
_UNKNOWN = "?"


def measured_gpus(bench: Bench, salt: str) -> tuple[MeasuredGpu, ...]:
    """The GPUs with what driver and NVML tell of them."""
    return tuple(_gpu(bench, number, salt) for number in range(len(bench.devices)))


def environment() -> dict[str, str | None]:
    """The variables that change what NVIDIA's libraries do; None for a value that may name a machine or a path."""
    return {
        display_text(name): shown_setting(name, value)
        for name, value in sorted(os.environ.items())
        if name.startswith(_PREFIXES)
    }


def host_facts() -> dict[str, str]:
    """Processor, kernel, and how many cores there are; nothing that names the machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {"cpu": display_text(_cpu_model()), "kernel": platform.release(), "usable_cores": str(cores)}


def topology(bench: Bench) -> Topology | None:
    """How the machine's GPUs that took part are joined; None of one GPU, and where NVML is not here."""
    bus_ids = bench.bus_ids or tuple(device.facts.bus_id for device in bench.devices)
    if len(bus_ids) == 1 or bench.nvml is None:
        return None
    links = tuple(tuple(_link(bench, one, other) for other in bus_ids) for one in bus_ids)
    return Topology(links, topology_hash(links))


def topology_hash(links: Sequence[Sequence[str]]) -> str:
    """The same for all orders of the GPUs: each is told by its links, then by what is told of those it is linked to."""
    told = [""] * len(links)
    for _ in links:
        rows = (sorted(zip(row, told, strict=True)) for row in links)
        told = [hashlib.sha256(repr(row).encode()).hexdigest() for row in rows]
    return hashlib.sha256(repr(sorted(told)).encode()).hexdigest()[:16]


def objections(bench: Bench) -> Iterator[str]:
    """What speaks against measuring now: work of others, a divided GPU, or one that is held back by heat."""
    for gpu in measured_gpus(bench, ""):
        if gpu.other_process_count:
            yield f"{gpu.other_process_count} other processes compute on {gpu.name} {gpu.bus_id}"
        if gpu.is_mig:
            yield f"{gpu.name} {gpu.bus_id} is divided (MIG): its figures are those of a part"
        if heat := [reason for reason in _held_back_by(bench, gpu.bus_id) if "thermal" in reason]:
            yield f"{gpu.name} {gpu.bus_id} is held back: {', '.join(heat)}"


def _gpu(bench: Bench, number: int, salt: str) -> MeasuredGpu:
    facts = bench.devices[number].facts
    settings = _settings(bench, facts.bus_id)
    return MeasuredGpu(
        name=display_text(facts.name),
        capability="{}.{}".format(*facts.capability),
        sm_count=facts.sm_count,
        memory_bytes=facts.memory_bytes,
        uuid_hash=hashlib.sha256(salt.encode() + facts.uuid).hexdigest()[:16],
        bus_id=facts.bus_id,
        l2_bytes=facts.l2_bytes or None,
        sm_clock_most_hz=_scaled(settings.get("sm_clock_most_mhz"), 1e6) or (facts.sm_clock_khz * 1e3 or None),
        memory_clock_most_hz=_scaled(settings.get("memory_clock_most_mhz"), 1e6),
        memory_bus_bits=facts.memory_bus_bits or None,
        power_limit_w=_scaled(settings.get("power_limit_mw"), 1e-3),
        power_limit_default_w=_scaled(settings.get("power_limit_default_mw"), 1e-3),
        has_ecc=_flag(settings.get("ecc")),
        is_mig=_flag(settings.get("mig")),
        pcie_generation=settings.get("pcie_generation"),
        pcie_width=settings.get("pcie_width"),
        nvlink_count=settings.get("nvlink_count"),
        temperature_celsius=_scaled(settings.get("temperature_celsius"), 1.0),
        other_process_count=_others(settings.get("process_count")),
    )


def _settings(bench: Bench, bus_id: str) -> Mapping[str, int]:
    if bench.nvml is None:
        return {}
    try:
        return bench.nvml.settings(bus_id)
    except native().CallFailedError as error:
        bench.waive("conditions", str(error))
        return {}


def _held_back_by(bench: Bench, bus_id: str | None) -> tuple[str, ...]:
    """What holds the clocks of a GPU back just now."""
    if bench.nvml is None:
        return ()
    now = conditions_of(native().Sampler(bench.nvml, bus_id, 1).stop())
    return () if now is None else now.throttle_reasons


def _others(process_count: int | None) -> int | None:
    """Without this process, which NVML counts as soon as it has a context."""
    return None if process_count is None else max(process_count - 1, 0)


def _scaled(value: int | None, factor: float) -> float | None:
    return None if value is None else value * factor


def _flag(value: int | None) -> bool | None:
    return None if value is None else value != 0


def _link(bench: Bench, one: str, other: str) -> str:
    if one == other:
        return _SELF
    assert bench.nvml is not None
    if bench.nvml.is_joined_by_nvlink(one, other):
        return _JOINED
    level = bench.nvml.common_ancestor(one, other)
    return _UNKNOWN if level is None else _ANCESTORS.get(level, _UNKNOWN)


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
