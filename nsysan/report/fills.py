"""How charts are filled: a colour a meaning, and a pattern where several causes share one.

``PAINTS`` is the one list of it: the style sheet's rules, the patterns of SVG and what the timeline's script paints are
all made from it.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from nsysan.model.idle import Cause
from nsysan.model.partition import Part


class Paint(msgspec.Struct, frozen=True):
    """A colour of the palette; striped by a ``second`` one where there is a ``shape``, of how the stripes run."""

    colour: str
    second: str | None = None
    shape: str | None = None


def _striped(colour: str, shape: str) -> Paint:
    return Paint(colour, "page", shape)


PAINTS: Mapping[str, Paint] = {
    Part.COMPUTE_ONLY.value: Paint("compute-only"),
    Part.OVERLAPPED.value: Paint("overlapped"),
    Part.FUSED.value: Paint("compute-only", "exposed-communication", "wide"),
    Part.OPAQUE_GRAPH.value: _striped("opaque-graph", "falling"),
    Part.EXPOSED_COMMUNICATION.value: Paint("exposed-communication"),
    Part.EXPOSED_COPY.value: Paint("exposed-copy"),
    Part.IDLE.value: Paint("idle"),
    Cause.PROFILER_OVERHEAD.value: Paint("profiler"),
    Cause.DATA_LOADING.value: Paint("data"),
    Cause.CHECKPOINT.value: _striped("scheduling", "upright"),
    Cause.GARBAGE_COLLECTION.value: _striped("scheduling", "dotted"),
    Cause.HOST_COMMUNICATION.value: _striped("exposed-communication", "level"),
    Cause.HOST_SYNC.value: Paint("synchronising"),
    Cause.BLOCKING_COPY.value: _striped("synchronising", "rising"),
    Cause.ALLOCATOR.value: Paint("memory"),
    Cause.MODULE_LOADING.value: _striped("scheduling", "rising"),
    Cause.GRAPH_BUILD.value: _striped("scheduling", "falling"),
    Cause.SLOW_LAUNCH.value: _striped("scheduling", "level"),
    Cause.OS_BLOCKED.value: _striped("scheduling", "crossed"),
    Cause.LAUNCH_STARVED.value: Paint("scheduling"),
    Cause.LAUNCH_LATENCY.value: _striped("latency", "rising"),
    Cause.HANDOVER.value: Paint("latency"),
    Cause.DEVICE_WAIT.value: Paint("device-wait"),
    Cause.UNIFIED_MEMORY.value: _striped("memory", "rising"),
    # of a class as a whole, and of time of the host
    "data": Paint("data"),
    "memory": Paint("memory"),
    "scheduling": Paint("scheduling"),
    "host": Paint("ink-3"),
}
"""By the name of a fill, which is its class on the page: that of a part, of a cause, or of a class."""

CAUSE_FILLS: Mapping[Cause, str] = {
    cause: Part.IDLE.value if cause is Cause.UNKNOWN else cause.value for cause in Cause
}
"""Idle time whose cause is not known looks as idle time does."""

LIGHTS: Mapping[str, str] = {
    **{part.value: part.value for part in Part},
    **{cause.value: fill for cause, fill in CAUSE_FILLS.items()},
    Part.IDLE.value: " ".join(dict.fromkeys((Part.IDLE.value, *CAUSE_FILLS.values()))),
}
"""The fills that the name of a part or cause lights up: that of idle those of all its causes."""


def fill_rules() -> str:
    """The rules of the style sheet: a class a fill, and one a colour for what patterns are made of."""
    colours = dict.fromkeys(colour for paint in PAINTS.values() for colour in (paint.colour, paint.second) if colour)
    fills = (
        f".{fill} {{ fill: {f'var(--{paint.colour})' if paint.shape is None else f'url(#pattern-{fill})'}; }}"
        for fill, paint in PAINTS.items()
    )
    return "\n".join([*fills, *(f".solid-{colour} {{ fill: var(--{colour}); }}" for colour in colours), ""])


def patterns() -> Mapping[str, Paint]:
    """The paints that are striped, by fill."""
    return {fill: paint for fill, paint in PAINTS.items() if paint.shape is not None}
