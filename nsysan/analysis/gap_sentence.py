"""The story of a gap in one sentence: what the GPU waited for longest, and what it ran then."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from nsysan.attribution.kernel_class import function_name
from nsysan.attribution.ranges.names import without_details
from nsysan.model.idle import Cause
from nsysan.model.prose import capitalized
from nsysan.model.text import display_text
from nsysan.model.units import format_duration

NAME_LENGTH = 60
"""Characters of a name in the sentence; the story's parts have it whole."""
WORTH_A_WORD_FRAC = 0.2
"""A second cause is told from this share of the gap on, a name from this share of a cause."""
NEARLY_ALL_FRAC = 0.95
"""From this share on, a call or range stands for all of a cause."""
_IT = "it"
_API_VERSION = re.compile(r"_v\d+$")


class GapCall(msgspec.Struct, frozen=True):
    """The call that launched the work ending the gap; ``thread_id`` is the thread's on its host."""

    name: str
    start_ns: int
    end_ns: int
    thread_id: int


class GapSpan(msgspec.Struct, frozen=True):
    """A stretch of the gap with one cause and thread.

    ``doing`` is the call or range that the thread was in for at least half of it, null where there is none, and
    ``doing_ns`` for how long.
    """

    start_ns: int
    end_ns: int
    cause: Cause
    thread_id: int | None
    doing: str | None
    doing_ns: int


_THREAD_DOES = {
    Cause.DATA_LOADING: "loaded data",
    Cause.CHECKPOINT: "saved a checkpoint",
    Cause.GARBAGE_COLLECTION: "collected garbage",
    Cause.HOST_COMMUNICATION: "communicated with other processes",
    Cause.HOST_SYNC: "synchronised with the GPU",
    Cause.BLOCKING_COPY: "was held up by a copy",
    Cause.ALLOCATOR: "allocated or freed memory",
    Cause.MODULE_LOADING: "loaded code",
    Cause.GRAPH_BUILD: "built CUDA graphs",
    Cause.SLOW_LAUNCH: "was held up",
    Cause.LAUNCH_STARVED: "launched nothing",
}
_HOLDS = {Cause.PROFILER_OVERHEAD: "the profiler", Cause.OS_BLOCKED: "the operating system"}
_NO_THREAD = {
    Cause.LAUNCH_LATENCY: "the launch itself took {}",
    Cause.HANDOVER: "work already launched took {} to begin",
    Cause.DEVICE_WAIT: "work already launched did not begin for {}",
    Cause.UNIFIED_MEMORY: "the driver moved unified memory for {}",
    Cause.UNKNOWN: "no recorded call explains {}",
}
_WORK = {"[memory copy]": "a copy", "[memset]": "a memset", "[CUDA graph]": "a CUDA graph"}


class Recorded(msgspec.Struct, frozen=True):
    """What else the trace tells of threads: when they were on a core, and calls of the operating system."""

    scheduling: bool
    os_calls: bool


def tell(
    causes_ns: Mapping[Cause, int],
    spans: Sequence[GapSpan],
    ended_by: tuple[GapCall | None, str | None],
    recorded: Recorded,
) -> str:
    """The sentence: the cause with most of the gap, another that has a fifth of it, and what ended the gap.

    ``spans`` are the longest stretches of the gap; it was ended by a call and the first activity after it, by name.
    """
    first, second, *_ = sorted(causes_ns, key=lambda cause: -causes_ns[cause])
    told = _clause(first, causes_ns[first], spans, _subject(first, spans))
    if first is Cause.LAUNCH_STARVED:
        told = _with_doubt(told, recorded, is_placed=bool(_where(first, spans, causes_ns[first])[1]))
    if causes_ns[second] >= WORTH_A_WORD_FRAC * sum(causes_ns.values()):
        told += f" and {_clause(second, causes_ns[second], spans, _subject_again(second, first, spans))}"
    return f"{capitalized(told)}; {_ending(*ended_by)}."


def _with_doubt(told: str, recorded: Recorded, *, is_placed: bool) -> str:
    """A thread that was on a core ran; of one about which nothing is recorded that is said."""
    if recorded.scheduling:
        return told.replace("launched nothing", "ran but launched nothing", 1)
    return told if is_placed or recorded.os_calls else f"{told} (why is not recorded)"


def _clause(cause: Cause, time_ns: int, spans: Sequence[GapSpan], thread: str) -> str:
    """What took the time; ``thread`` is what the sentence calls the thread."""
    if cause in _NO_THREAD:
        return _NO_THREAD[cause].format(format_duration(time_ns))
    if cause in _HOLDS:
        does = f"{_HOLDS[cause]} held {'it up' if thread == _IT else f'up {thread}'}"
    else:
        does = f"{thread} {_THREAD_DOES[cause]}".lstrip()
    name, in_name_ns = _where(cause, spans, time_ns)
    if in_name_ns >= NEARLY_ALL_FRAC * time_ns:
        return f"{does} in {name} for {format_duration(time_ns)}"
    told = f"{does} for {format_duration(time_ns)}"
    return f"{told}, {format_duration(in_name_ns)} of it in {name}" if in_name_ns else told


def _subject(cause: Cause, spans: Sequence[GapSpan]) -> str:
    """The thread of the longest stretch with the cause."""
    own = (span for span in spans if span.cause is cause and span.thread_id is not None)
    longest = max(own, key=lambda span: span.end_ns - span.start_ns, default=None)
    return "the host" if longest is None else f"thread {longest.thread_id}"


def _subject_again(cause: Cause, first: Cause, spans: Sequence[GapSpan]) -> str:
    """The thread of a second cause; where the sentence was about it already, no more than is needed."""
    thread = _subject(cause, spans)
    if first in _NO_THREAD or thread != _subject(first, spans):
        return thread
    return _IT if cause in _HOLDS or first in _HOLDS else ""


def _where(cause: Cause, spans: Sequence[GapSpan], time_ns: int) -> tuple[str, int]:
    """The call or range in which most of the cause's time passed, and how much of it; no word where that is little."""
    times_ns: Counter[str] = Counter()
    for span in spans:
        if span.cause is cause and span.doing is not None:
            times_ns[display_text(_plain(span.doing), NAME_LENGTH)] += span.doing_ns
    name, in_name_ns = max(times_ns.items(), key=lambda entry: entry[1], default=("", 0))
    return (name, in_name_ns) if in_name_ns >= WORTH_A_WORD_FRAC * time_ns else ("", 0)


def _ending(call: GapCall | None, after: str | None) -> str:
    if after is None:
        return "nothing ran after it"
    work = _WORK.get(after) or display_text(_plain_kernel(after), NAME_LENGTH)
    return f"then {work} ran" if call is None else f"then {_plain(call.name)} started {work}"


def _plain(name: str) -> str:
    """The name of a call without its version, of an operator without its details."""
    return without_details(_API_VERSION.sub("", name))


def _plain_kernel(name: str) -> str:
    """The function's name; what has no name of its own leaves nothing in it."""
    return "::".join(filter(None, function_name(name).split("::"))) or name
