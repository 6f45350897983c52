"""What each GPU of the job is held against: the ceilings given, if they are of its model, and its data sheet."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from nsysan.attribution.devices import Gpu
from nsysan.attribution.job import Job
from nsysan.hardware.data_sheet_table import DataSheet
from nsysan.hardware.data_sheets import GpuFacts, sheet_of
from nsysan.hardware.matching import Match, match_gpu
from nsysan.model.ceilings import Ceilings
from nsysan.model.trace import PhysicalGpu


class Yardstick(msgspec.Struct, frozen=True):
    """``ceilings`` is None where none were given, or ``match`` refuses them; ``sheet`` where no sheet is known."""

    facts: GpuFacts
    ceilings: Ceilings | None
    sheet: DataSheet | None
    match: Match | None


def yardstick_of(job: Job, gpu: Gpu) -> Yardstick:
    """What the GPU is held against."""
    facts = gpu_facts(job, gpu)
    sheet = sheet_of(facts)
    if job.ceilings is None:
        return Yardstick(facts, None, sheet, None)
    recorded_utc_ns = job.traces[gpu.devices[0].report].session_start_utc_ns
    match = match_gpu(job.ceilings, facts, recorded_utc_ns)
    return Yardstick(facts, job.ceilings if match.refused is None else None, sheet, match)


def gpu_facts(job: Job, gpu: Gpu) -> GpuFacts:
    """What the traces tell of a GPU; of one that is not known by its id what all of the machine's share."""
    trace = job.traces[gpu.devices[0].report]
    own = [one for one in trace.gpus if one.gpu_id == gpu.identity.machine_id]
    alike = own or [one for one in trace.gpus if one.name == gpu.identity.name]
    kinds = {_kind(one) for one in alike}
    facts = kinds.pop() if len(kinds) == 1 else GpuFacts(gpu.identity.name)
    return replace(facts, driver_version=trace.software.driver)


def _kind(gpu: PhysicalGpu) -> GpuFacts:
    return GpuFacts(
        name=gpu.name,
        sm_count=gpu.sm_count,
        capability=gpu.capability,
        sm_clock_hz=gpu.sm_clock_hz,
        memory_bytes_per_s=gpu.memory_bandwidth_bytes_per_s,
        memory_bytes=gpu.memory_bytes,
    )
