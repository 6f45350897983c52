"""A trace of the PyTorch profiler becomes a Trace."""

from __future__ import annotations

from typing import TypeVar

import msgspec
import numpy as np
from msgspec.structs import replace

from nsysan.ingest.fingerprint import fingerprint_of
from nsysan.ingest.reader import Candidate, ReadOptions
from nsysan.ingest.torch.events import DOMAIN_NAMES, THREAD_COLUMN, WORK, Events
from nsysan.ingest.torch.header import JOB_KEY, KEYS, Header, read_header
from nsysan.ingest.torch.json_stream import JsonStream
from nsysan.ingest.torch.merged import merged, refuse_merged
from nsysan.ingest.torch.opening import RECORD_AGAIN, opened
from nsysan.ingest.torch.questions import Recorded
from nsysan.ingest.torch.rows import Rows
from nsysan.ingest.torch.times import LATEST_NS
from nsysan.model.arrays import Int64Array
from nsysan.model.errors import InputError
from nsysan.model.profilers import Profiler
from nsysan.model.tables import (
    ABSENT,
    AllocatorStates,
    CollectiveCalls,
    Copies,
    KernelDimensions,
    Kernels,
    KernelShapes,
    Memsets,
    NvtxRanges,
    RuntimeCalls,
)
from nsysan.model.trace import (
    IMPOSSIBLE_NS,
    PID_MASK,
    PID_SHIFT,
    CaptureIdentity,
    CudaDevice,
    RankSource,
    Trace,
    process_of,
)

_EVENTS = "traceEvents"


AnyTimed = TypeVar("AnyTimed", Kernels, Copies, Memsets, RuntimeCalls, NvtxRanges, CollectiveCalls)
AnyGpuTable = TypeVar("AnyGpuTable", Kernels, Copies, Memsets)


class _Session(msgspec.Struct, frozen=True):
    """When the session begins as the trace counts time, how long it takes, and the one process it is of, or ABSENT."""

    start_ns: int
    capture_ns: int | None
    global_pid: int


def read_torch_trace(candidate: Candidate, reader: str, options: ReadOptions) -> Recorded:
    """The trace of one process. Time zero is its earliest event, and the capture ends with the latest.

    Events are read one by one and kept as rows of integers. Raises InputError where the JSON is damaged, cut off,
    holds no list of events, or was merged of several ranks.
    """
    events = Events()
    with opened(candidate.path, candidate.shown_name) as read:
        header = _read_members(JsonStream(read, candidate.shown_name), events, candidate.shown_name)
    refuse_merged(events, candidate.shown_name)
    session = _session(events)
    trace = Trace(
        name=candidate.path.name,
        reader=reader,
        profiler=Profiler.TORCH,
        fingerprint=fingerprint_of(candidate.path, hash_content=options.hash_content),
        identity=CaptureIdentity(host=None, user=None, command_line=None, path=str(candidate.path)),
        nsys_version=None,
        export_schema=None,
        capture_ns=session.capture_ns,
        session_start_utc_ns=header.utc_ns(session.start_ns),
        gpus=header.gpus,
        sm_limits=header.sm_limits,
        cuda_devices=tuple(
            CudaDevice(process_of(session.global_pid), gpu.gpu_id, gpu.gpu_id, None, gpu.sm_count)
            for gpu in header.gpus
        ),
        strings=events.names.strings(),
        kernels=_gpu_table(Kernels, events.kernels, session),
        kernel_shapes=_kernel_shapes(events).narrowed(),
        kernel_dimensions=KernelDimensions(*events.kernel_shapes.columns()[:6]).narrowed(),
        copies=_gpu_table(Copies, events.copies, session),
        memsets=_gpu_table(Memsets, events.memsets, session),
        graph_launches=None,
        nvtx_ranges=_table(NvtxRanges, events.ranges.columns(), session),
        nvtx_domains={(session.global_pid, domain): name for domain, name in DOMAIN_NAMES.items()},
        unreadable_records=dict(events.unreadable),
        runtime_calls=_table(RuntimeCalls, events.calls.columns(), session),
        collective_calls=_table(CollectiveCalls, events.collectives.columns(), session),
        allocator_states=_allocator_states(events, session),
        rank=header.rank,
        rank_source=None if header.rank is None else RankSource.PROFILER,
        world_size=header.world_size,
        process_groups=header.process_groups,
        software=header.software,
        unreadable_work={
            kind: events.unreadable[category] for kind, category in WORK.items() if events.unreadable[category]
        },
    )
    return Recorded(trace, frozenset(events.other_kinds))


def _read_members(stream: JsonStream, events: Events, shown_name: str) -> Header:
    members: dict[str, object] = {}
    has_events = False
    for key in stream.members():
        if key != _EVENTS:
            value = stream.value()
            if key == JOB_KEY and members.get(key, value) != value:
                raise merged(shown_name, f"several {JOB_KEY}")
            members |= {key: value} if key in KEYS else {}
            continue
        if has_events or stream.peek() not in {"[", ""}:
            what = "has two lists of events" if has_events else "holds something else than a list of events"
            raise InputError(f"{shown_name} {what} under {_EVENTS}.", RECORD_AGAIN)
        has_events = True
        for event in stream.elements():
            events.add(event)
    stream.expect_end()
    if not has_events:
        raise InputError(
            f"{shown_name} is JSON without {_EVENTS}: it is no trace of the PyTorch profiler.", "Check the path."
        )
    return read_header(members)


def _kernel_shapes(events: Events) -> KernelShapes:
    *_, block_x, block_y, block_z, register_count, shared_bytes = events.kernel_shapes.columns()
    # static and dynamic memory come as one sum
    return KernelShapes(register_count, block_x, block_y, block_z, shared_bytes, np.zeros_like(shared_bytes))


def _session(events: Events) -> _Session:
    tables = (events.kernels, events.copies, events.memsets, events.calls, events.ranges, events.marks)
    starts, ends = (np.concatenate([table.columns()[column] for table in tables]) for column in (0, 1))
    global_pid = _host_process(events)
    if not len(starts):
        return _Session(0, None, global_pid)
    middle_ns = int(np.partition(starts, len(starts) // 2)[len(starts) // 2])
    sound = (np.abs(starts - middle_ns) <= IMPOSSIBLE_NS) & (np.abs(ends - middle_ns) <= IMPOSSIBLE_NS)
    start_ns = int(starts[sound].min(initial=middle_ns))
    return _Session(start_ns, int(ends[sound].max(initial=middle_ns)) - start_ns, global_pid)


def _host_process(events: Events) -> int:
    """The process of most CPU events, else the one labelled as the host's, as a global pid; ABSENT where none is named.

    The profiler records its own process only, and GPU events do not name it.
    """
    threads = np.concatenate([table.columns()[THREAD_COLUMN] for table in (events.calls, events.ranges)])
    if len(threads):
        processes, counts = np.unique(threads >> PID_SHIFT, return_counts=True)
        return int(processes[counts.argmax()]) << PID_SHIFT
    return next(((pid & PID_MASK) << PID_SHIFT for pid in events.labelled_pids), ABSENT)


def _gpu_table(record: type[AnyGpuTable], rows: Rows, session: _Session) -> AnyGpuTable | None:
    start_ns, end_ns, *rest = rows.columns()
    return _table(record, [start_ns, end_ns, np.full(len(start_ns), session.global_pid), *rest], session)


def _table(record: type[AnyTimed], columns: list[Int64Array], session: _Session) -> AnyTimed | None:
    """The columns as a table with times from session start; None where there is no record."""
    if not len(columns[0]):
        return None
    table = record(*columns)
    return replace(table, start_ns=_since(table.start_ns, session), end_ns=_since(table.end_ns, session))


def _allocator_states(events: Events, session: _Session) -> AllocatorStates | None:
    start_ns, *rest = events.allocator_states.columns()
    if not len(start_ns):
        return None
    return AllocatorStates(_since(start_ns, session), np.full(len(start_ns), session.global_pid), *rest)


def _since(times_ns: Int64Array, session: _Session) -> Int64Array:
    """The times from session start; one that is impossible because it was never taken stays impossible."""
    far_ns = LATEST_NS >> 1
    return np.clip(times_ns, session.start_ns - far_ns, session.start_ns + far_ns) - session.start_ns
