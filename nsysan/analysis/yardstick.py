"""What each GPU of the job is held against: the ceilings given, if they are of its model, and its data sheet."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.attribution.collectives.ceilings import CeilingOf, CollectiveCeiling
from nsysan.attribution.job import Gpu, Job
from nsysan.hardware.answers import spelled_level
from nsysan.hardware.collective_ceilings import Exchange, collective_ceiling
from nsysan.hardware.data_sheet_table import DataSheet
from nsysan.hardware.data_sheets import GpuFacts, sheet_of
from nsysan.hardware.matching import Match, match_gpu
from nsysan.model.ceilings import Ceilings
from nsysan.model.kernels import Collective
from nsysan.model.trace import PhysicalGpu


@dataclass(frozen=True, slots=True)
class Yardstick:
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
    return kinds.pop() if len(kinds) == 1 else GpuFacts(gpu.identity.name)


def _kind(gpu: PhysicalGpu) -> GpuFacts:
    return GpuFacts(
        name=gpu.name,
        sm_count=gpu.sm_count,
        capability=gpu.capability,
        sm_clock_hz=gpu.sm_clock_hz,
        memory_bytes_per_s=gpu.memory_bandwidth_bytes_per_s,
        memory_bytes=gpu.memory_bytes,
    )


def collective_ceilings_of(job: Job) -> CeilingOf:
    """What collectives can reach: by the ceilings given, else by what else tells of the machine, else by NVLink."""
    yardstick = yardstick_of(job, job.gpus[0])

    def ceiling_of(
        kind: Collective, size_bytes: int, rank_count: int, node_count: int | None
    ) -> CollectiveCeiling | None:
        if size_bytes <= 0:
            return None
        exchange = Exchange(kind, size_bytes, rank_count, node_count)
        measured = None if yardstick.ceilings is None else collective_ceiling(yardstick.ceilings, None, exchange)
        told = None if measured is not None else job.ceiling_of(kind, size_bytes, rank_count, node_count)
        if told is not None:
            return told
        found = measured or collective_ceiling(yardstick.ceilings, yardstick.sheet, exchange)
        return None if found is None else CollectiveCeiling(found.rate, f"{found.source} ({spelled_level(found)})")

    return ceiling_of
