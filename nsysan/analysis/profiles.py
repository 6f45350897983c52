"""What profiles of PyTorch that were given as evidence tell of their own run: ranks and memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.registry import Analysis
from nsysan.attribution.job import Job
from nsysan.attribution.memory_use import allocator_curve
from nsysan.model.profiled import ProfiledTrace
from nsysan.model.results import ResultSet
from nsysan.model.tables import AllocatorStates
from nsysan.model.text import display_text

SHOWN_PROFILES = 100


class ProfiledMemory(msgspec.Struct, frozen=True):
    """The most that the allocator of one device had in use, and that it had reserved, while it was profiled."""

    device_id: int
    used_peak_bytes: int
    reserved_peak_bytes: int


class ProfileSummary(msgspec.Struct, frozen=True):
    """One profile. ``rank`` and ``world_size`` are null where it does not tell them.

    ``memory`` is empty where it was recorded without ``profile_memory=True``.
    """

    name: str
    rank: int | None
    world_size: int | None
    process_group_count: int
    collective_call_count: int
    memory: tuple[ProfiledMemory, ...]


class Profiles(msgspec.Struct, frozen=True):
    """The profiles that were given, none where none was."""

    id: ClassVar[str] = "profiles"

    profiles: tuple[ProfileSummary, ...]


def compute_profiles(job: Job, _results: ResultSet) -> Profiles:
    """A summary of each of the first profiles among the evidence."""
    return Profiles(tuple(map(_summary, job.evidence.of(ProfiledTrace)[:SHOWN_PROFILES])))


ANALYSIS = Analysis(Profiles, compute_profiles, of_host=False)


def _summary(profiled: ProfiledTrace) -> ProfileSummary:
    trace = profiled.trace
    return ProfileSummary(
        name=display_text(profiled.name),
        rank=trace.rank,
        world_size=trace.world_size,
        process_group_count=len(trace.process_groups),
        collective_call_count=0 if trace.collective_calls is None else len(trace.collective_calls),
        memory=() if trace.allocator_states is None else tuple(_memory(trace.allocator_states)),
    )


def _memory(states: AllocatorStates) -> Iterator[ProfiledMemory]:
    for device_id in np.unique(states.device_id).tolist():
        of_device = states.take(states.device_id == device_id)
        used, reserved = (
            allocator_curve(of_device, in_use_bytes).peak_bytes
            for in_use_bytes in (of_device.allocated_bytes, of_device.reserved_bytes)
        )
        yield ProfiledMemory(device_id, used, reserved)
