"""PyTorch traces written by hand, event by event."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

Event = dict[str, Any]


def event(category: str, name: str, ts: object, dur: object, *, thread: tuple[int, int], **arguments: object) -> Event:
    """A complete event; ``thread`` is process and thread, times are microseconds."""
    pid, tid = thread
    fixed = {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid}
    return {**fixed, "ts": ts, "dur": dur, "args": arguments}


def kernel(ts: object, dur: object, name: str = "gemm", **arguments: object) -> Event:
    """A kernel on stream 7 of device 0, where Kineto writes the device as process."""
    where = {"device": 0, "context": 1, "stream": 7, "correlation": 1}
    return event("kernel", name, ts, dur, thread=(0, 7), **{**where, **arguments})


def memory(ts: object, allocated_bytes: int, reserved_bytes: int, *, device_type: int = 1) -> Event:
    """What the allocator of device 0 had after an event, as ``profile_memory=True`` records it; type 0 is the host."""
    totals = {"Total Allocated": allocated_bytes, "Total Reserved": reserved_bytes}
    arguments = {**totals, "Bytes": 512, "Addr": 140_000, "Device Id": 0, "Device Type": device_type}
    fixed = {"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": 42, "tid": 42}
    return {**fixed, "ts": ts, "args": arguments}


def annotation(ts: object, dur: object, name: str = "step") -> Event:
    """A range of the user's, on the main thread of process 42."""
    return event("user_annotation", name, ts, dur, thread=(42, 42))


def as_json(*events: object, **members: object) -> str:
    """The trace with these events; times that are floats must be short enough to stand as written."""
    return json.dumps({"schemaVersion": 1, **members, "traceEvents": list(events)})


def written(folder: Path, *events: object, **members: object) -> Path:
    """The trace as a file in ``folder``."""
    path = folder / "rank0.pt.trace.json"
    path.write_text(as_json(*events, **members))
    return path
