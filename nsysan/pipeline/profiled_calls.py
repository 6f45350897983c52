"""What collectives move and between whom, for reports that do not tell it: from profiles of the same launches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.attribution.host import Host
from nsysan.attribution.profiled_collectives import ProfiledCalls, differing_count, profiled_calls
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.distinct import coded
from nsysan.model.evidence import Evidence
from nsysan.model.kernels import Collective
from nsysan.model.profiled import ProfiledTrace
from nsysan.model.run import Note
from nsysan.model.tables import ABSENT, CollectiveCalls
from nsysan.model.text import display_text, first_names
from nsysan.model.trace import RankSource, Trace
from nsysan.model.units import counted

_NAMELESS = -1
"""Stands for the name of a group that is not that of this rank."""


def with_profiled_calls(
    traces: Sequence[Trace], evidence: Evidence, world_size: int | None = None
) -> tuple[list[Trace], list[Note]]:
    """Give each trace that tells no sizes the calls of a profile whose kernels were launched in the same order.

    Sizes and types are the same on every rank that runs the same kernels, but for sizes of an all-to-all. Groups, rank
    and number of ranks are only taken where each trace has a profile of its own rank, the rank that both tell or that
    of the only trace, and of as many ranks: ``world_size``, where it is given, or what the trace tells.
    """
    profiles = [
        _Profile(profiled, told) for profiled in evidence.of(ProfiledTrace) if (told := profiled_calls(profiled.trace))
    ]
    lacking = {place: trace for place, trace in enumerate(traces) if not _tells_sizes(trace)}
    job = _Job(len(traces), world_size)
    matches = {place: match for place, trace in lacking.items() if (match := _match(trace, profiles, job)) is not None}
    has_groups = len(matches) == len(traces) and all(match.is_same_rank for match in matches.values())
    found = [
        matches[place].given(trace, has_groups=has_groups) if place in matches else trace
        for place, trace in enumerate(traces)
    ]
    notes = [match.note(found[place], has_groups=has_groups) for place, match in matches.items()]
    notes += [match.contradiction for match in matches.values() if match.contradiction is not None]
    return found, [*notes, *(_not_taken(profiles) if lacking else ())]


class _Profile(msgspec.Struct, eq=False):
    """A profile that tells calls, and whether they fit any report."""

    profiled: ProfiledTrace
    told: ProfiledCalls
    fits: bool = False


class _Job(msgspec.Struct, frozen=True):
    """How many reports were given, and of how many ranks the job is said to be."""

    trace_count: int
    world_size: int | None


class _Match(msgspec.Struct, frozen=True, eq=False):
    """A profile and the calls that it tells of a trace; ``calls`` have the ids of the profile's strings.

    ``contradiction`` names another profile that tells other sizes of the same trace.
    """

    profiled: ProfiledTrace
    calls: CollectiveCalls
    is_same_rank: bool
    contradiction: Note | None = None

    def given(self, trace: Trace, *, has_groups: bool) -> Trace:
        """The trace with these calls; with what the profile knows of ranks where groups are taken."""
        profile, strings = self.profiled.trace, dict(trace.strings)
        group_id = self.calls.group_id if has_groups else np.full(len(self.calls), _NAMELESS)
        texts = {**profile.strings, _NAMELESS: ""}
        calls = replace(
            self.calls,
            kind_id=_moved(self.calls.kind_id, texts, strings),
            dtype_id=_moved(self.calls.dtype_id, texts, strings),
            group_id=_moved(group_id, texts, strings),
            size_bytes=self.calls.size_bytes if self.is_same_rank else self._equal_bytes(),
        )
        given = replace(trace, strings=strings, collective_calls=calls)
        return _with_ranks(given, profile) if has_groups else given

    def _equal_bytes(self) -> Int64Array:
        """The sizes that every rank has: what a rank puts into an all-to-all is its own, as tokens for experts are."""
        texts = self.profiled.trace.strings
        kinds, kind_of = coded(self.calls.kind_id)
        is_own = np.array([texts[kind] == Collective.ALL_TO_ALL.value for kind in kinds.tolist()], np.bool_)[kind_of]
        return np.where(is_own, ABSENT, self.calls.size_bytes)

    def note(self, trace: Trace, *, has_groups: bool) -> Note:
        """Which profile tells what of which report; ``trace`` has the calls already."""
        name, report, calls = display_text(self.profiled.name), display_text(trace.name), trace.collective_calls
        assert calls is not None, "they were given"
        sized = int((calls.size_bytes != ABSENT).sum())
        told = [f"of what kind {counted(len(calls), 'call')} of collectives in it are"]
        if has_groups and any(trace.text(group_id) for group_id in coded(calls.group_id)[0].tolist()):
            told.append("between which ranks")
        size = f" and how much {counted(sized, 'call')} of them move" if sized else ", and not how much they move"
        listed = f"{', '.join(told)}{size}"
        return Note("calls_from_profile", f"{name} has the launches of {report}, and tells {listed}.")

    def against(self, other: _Match, trace: Trace) -> Note | None:
        """What to say where a profile that is as near to the trace's rank tells other sizes."""
        count = differing_count(self.calls, other.calls) if other.is_same_rank == self.is_same_rank else 0
        if not count:
            return None
        name, another = display_text(self.profiled.name), display_text(other.profiled.name)
        return Note(
            "profiles_contradict",
            f"{name} and {another} contradict each other: they tell other sizes of {counted(count, 'launch')} of "
            f"collectives in {display_text(trace.name)}. Those of {name} are shown.",
        )


def _not_taken(profiles: Sequence[_Profile]) -> Iterator[Note]:
    """A note on the profiles that fit no report."""
    if names := [display_text(one.profiled.name) for one in profiles if not one.fits]:
        yield Note(
            "calls_not_taken",
            f"No sizes of collectives are taken from {first_names(names)}: the launches of kernels there do not fit "
            "those of a report that lacks sizes, so it may be another job.",
        )


def _match(trace: Trace, profiles: Sequence[_Profile], job: _Job) -> _Match | None:
    """The first profile of the trace's own rank that fits, else the first that does."""
    host, best = Host(trace), None
    for profile in profiles:
        calls = profile.told.calls_in(host)
        if calls is None:
            continue
        profile.fits = True
        match = _Match(profile.profiled, calls, _is_same_rank(trace, profile.profiled.trace, job))
        # only the best is kept, for the calls of all profiles in all reports would be many
        if best is None or (match.is_same_rank and not best.is_same_rank):
            best = match
        elif best.contradiction is None:
            best = replace(best, contradiction=best.against(match, trace))
    return best


def _with_ranks(trace: Trace, profile: Trace) -> Trace:
    trace = replace(trace, process_groups=profile.process_groups, world_size=trace.world_size or profile.world_size)
    if trace.rank is not None or profile.rank is None:
        return trace
    return replace(trace, rank=profile.rank, rank_source=RankSource.PROFILER)


def _tells_sizes(trace: Trace) -> bool:
    return any(table is not None and len(table) for table in (trace.collective_calls, trace.nccl_payloads))


def _is_same_rank(trace: Trace, profile: Trace, job: _Job) -> bool:
    kernels = trace.kernels
    sizes = {job.world_size or trace.world_size, profile.world_size} - {None}
    if len(sizes) > 1:
        return False
    if kernels is None or len(np.unique(kernels.device_id)) > 1 or len(np.unique(kernels.global_pid)) > 1:
        return False
    if trace.rank is None or profile.rank is None:
        return job.trace_count == 1
    return trace.rank == profile.rank


def _moved(ids: IdArray, texts: Mapping[int, str], strings: dict[int, str]) -> IdArray:
    """The ids of the same texts among ``strings``, to which they are added."""
    found, place_of = coded(ids)
    next_id = max(strings, default=0) + 1
    own = np.arange(next_id, next_id + len(found))
    strings.update((new, texts[old]) for new, old in zip(own.tolist(), found.tolist(), strict=True) if old in texts)
    return own[place_of]
