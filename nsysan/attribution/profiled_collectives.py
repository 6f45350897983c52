"""Collectives that PyTorch's profiler recorded, for the same launches in a trace that does not tell what they move."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.attribution.collectives.kinds import UNKNOWN
from nsysan.attribution.collectives.launching import CallsOfKernels, calls_of_kernels
from nsysan.attribution.collectives.torch_calls import in_order_of_stretches, torch_calls
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.host import Host
from nsysan.attribution.launch import NO_CALL
from nsysan.attribution.launch_order import kernel_names, period_of, places_of_names
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import summed
from nsysan.model.tables import ABSENT, CollectiveCalls
from nsysan.model.trace import Trace
from nsysan.timeline.labelling import NOBODY


class ProfiledCalls(msgspec.Struct, frozen=True, eq=False):
    """The kernels of a profile's first device in the order of their launches, up to where that repeats.

    Kernel ``i`` runs the calls ``first[i]`` to ``first[i] + count[i]`` of ``recorded``, whose ids are those of the
    profile's strings.
    """

    kernel_names: tuple[str, ...]
    first: Int64Array
    count: Int64Array
    recorded: CollectiveCalls

    def calls_in(self, host: Host) -> CollectiveCalls | None:
        """The calls of a report, each as long as the CUDA call that launched its kernel; None where nothing fits.

        Every device is matched by itself. A call's number on its group is that of another run, so none is told.
        """
        found = [calls for rows in _rows_by_device(host) if (calls := self._calls_of(host, rows)) is not None]
        return CollectiveCalls.concatenate(found) if found else None

    def _calls_of(self, host: Host, rows: Int64Array) -> CollectiveCalls | None:
        places = places_of_names(self.kernel_names, kernel_names(host, rows))
        if places is None:
            return None
        launch = host.launches.rows["kernels"][rows]
        kept = (places != NOBODY) & (launch != NO_CALL)
        places, launch = places[kept], launch[kept]
        count = self.count[places]
        if not count.any():
            return None
        which, launch = _runs(self.first[places], count), np.repeat(launch, count)
        start_ns = host.calls.start_ns[launch]
        return replace(
            self.recorded.take(which),
            start_ns=start_ns,
            # a call without length would hold no launch
            end_ns=np.maximum(host.calls.end_ns[launch], start_ns + 1),
            global_tid=host.calls.global_tid[launch],
            sequence=np.full(len(which), ABSENT),
        )


def profiled_calls(trace: Trace) -> ProfiledCalls | None:
    """What the profiler recorded of collectives on its first device; None where it tells none."""
    host = Host(trace)
    devices = _rows_by_device(host)
    if trace.collective_calls is None or not devices:
        return None
    rows = devices[0]
    recorded = in_order_of_stretches(trace.collective_calls)
    found = _calls_of_kernels(host, recorded, rows)
    count = np.where(found.is_shared, 0, found.count)
    if not count.any():
        return None
    names = kernel_names(host, rows)
    called = _kinds_of_calls(recorded)
    codes: dict[object, int] = {}
    kinds = [
        codes.setdefault((name, tuple(called[first : first + length])), len(codes))
        for name, first, length in zip(names, found.first.tolist(), count.tolist(), strict=True)
    ]
    period = period_of(np.array(kinds, np.int64))
    return ProfiledCalls(tuple(names[:period]), found.first[:period], count[:period], recorded)


def differing_count(one: CollectiveCalls, other: CollectiveCalls) -> int:
    """Of how many launches in one report the two tell other sizes; only those count of which both tell every size."""
    both = CollectiveCalls.concatenate([one, other])
    launch = codes_of(both.global_tid.astype(np.int64), both.start_ns)
    count = int(launch.max(initial=-1)) + 1
    told = [
        _bytes_of_launches(calls, place, count)
        for calls, place in zip((one, other), np.split(launch, [len(one)]), strict=True)
    ]
    return int(((told[0] != told[1]) & (told[0] != ABSENT) & (told[1] != ABSENT)).sum())


def _bytes_of_launches(calls: CollectiveCalls, launch: Int64Array, count: int) -> Int64Array:
    """What each of ``count`` launches moves, ABSENT where a size is not told."""
    unknown = np.bincount(launch[calls.size_bytes == ABSENT], minlength=count) > 0
    unknown |= np.bincount(launch, minlength=count) == 0
    return np.where(unknown, ABSENT, summed(calls.size_bytes, launch, count))


def _calls_of_kernels(host: Host, recorded: CollectiveCalls, rows: Int64Array) -> CallsOfKernels:
    calls = torch_calls(host, recorded).calls
    return calls_of_kernels(calls, host.calls, host.launches.rows["kernels"][rows], np.full(len(rows), UNKNOWN))


def _kinds_of_calls(recorded: CollectiveCalls) -> list[int]:
    """A number for each call, equal where all but its moment and its number are."""
    columns = recorded.columns()
    differing = {"start_ns", "end_ns", "global_tid", "sequence"}
    kinds: list[int] = codes_of(*(column for name, column in columns.items() if name not in differing)).tolist()
    return kinds


def _rows_by_device(host: Host) -> list[Int64Array]:
    """The kernels of each process' device, in the order of their launches."""
    kernels = host.trace.kernels
    if kernels is None or not len(kernels):
        return []
    device_of = codes_of(kernels.global_pid, kernels.device_id)
    order = np.lexsort((host.kernels_launched_ns, device_of))
    return np.split(order, np.flatnonzero(np.diff(device_of[order])) + 1)


def _runs(first: Int64Array, count: Int64Array) -> Int64Array:
    """The numbers ``first[i]`` to ``first[i] + count[i]`` of every ``i`` in turn."""
    before = np.cumsum(count) - count
    numbers: Int64Array = np.arange(int(count.sum())) + np.repeat(first - before, count)
    return numbers
