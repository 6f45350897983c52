"""What a simulated thread asks of the operating system, and when that takes it off the CPU.

It follows from what the thread does: a batch that is waited for comes through a pipe, a synchronisation sleeps until
the driver wakes it, memory and code are requests to the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from nsysan.synth.simulation.timelines import Call, Span

SHORTEST_CALL_NS = 1_000
"""nsys drops shorter calls."""
_CALL_MARGIN_NS = 500
"""A CUDA call spends so long before and after the OS call in it."""
_READ_NS = 3_000
_SWITCH_NS = 1_000
"""From the begin of a wait to the thread's leaving the CPU, and from its return to the end."""
_SLEEPS = "poll"
_CALLS_IN_CUDA = {"host_sync": _SLEEPS, "allocator": "ioctl", "module_loading": "read"}


class OsCall(msgspec.Struct, frozen=True):
    """A call into an OS runtime library."""

    start_ns: int
    end_ns: int
    name: str


class Switch(msgspec.Struct, frozen=True):
    """The scheduler puts the thread on its CPU, or takes it off."""

    time_ns: int
    is_in: bool


class HostTruth(msgspec.Struct, frozen=True):
    """A host thread's calls into OS libraries of 1 us or more, and the time they keep it off the CPU."""

    os_call_count: int
    os_call_ns: int
    off_cpu_ns: int


def os_calls(spans: Iterable[Span]) -> tuple[OsCall, ...]:
    """The OS calls of a thread, in order, without those too short for nsys."""
    calls = (call for span in spans for call in _calls(span))
    return tuple(call for call in calls if call.end_ns - call.start_ns >= SHORTEST_CALL_NS)


def switches(calls: Iterable[OsCall]) -> Iterator[Switch]:
    """When the thread leaves the CPU and returns: within the calls that sleep, where they are long enough."""
    for call in calls:
        if call.name == _SLEEPS and call.end_ns - call.start_ns > 2 * _SWITCH_NS:
            yield Switch(call.start_ns + _SWITCH_NS, is_in=False)
            yield Switch(call.end_ns - _SWITCH_NS, is_in=True)


def host_truth(spans: Iterable[Span]) -> HostTruth:
    """Count and time of the OS calls, and the time off the CPU."""
    calls = os_calls(spans)
    off_cpu_ns = sum(switch.time_ns if switch.is_in else -switch.time_ns for switch in switches(calls))
    return HostTruth(len(calls), sum(call.end_ns - call.start_ns for call in calls), off_cpu_ns)


def _calls(span: Span) -> Sequence[OsCall]:
    start_ns, end_ns = span.start_ns, span.end_ns
    if isinstance(span, Call):
        name = _CALLS_IN_CUDA.get(span.cause or "")
        return [] if name is None else [OsCall(start_ns + _CALL_MARGIN_NS, end_ns - _CALL_MARGIN_NS, name)]
    if span.cause != "data_loading":
        return []
    ready_ns = max(end_ns - _READ_NS, start_ns)
    return [OsCall(start_ns, ready_ns, _SLEEPS), OsCall(ready_ns, end_ns, "read")]
