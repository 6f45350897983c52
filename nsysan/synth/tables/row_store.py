"""The rows of a report in the making, and what they name: strings, threads, streams and correlation ids."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import chain

from nsysan.synth.tables import schema
from nsysan.synth.tables.database import Row
from nsysan.synth.tables.metadata import VM_GLOBAL_ID
from nsysan.synth.tables.schema import RELEASES

_TIMED = (
    schema.KERNEL,
    schema.MEMCPY,
    schema.MEMSET,
    schema.GRAPH_TRACE,
    schema.RUNTIME,
    schema.NVTX_EVENTS,
    schema.PROFILER_OVERHEAD,
    schema.SYNCHRONIZATION,
    schema.OS_RUNTIME,
    schema.GPU_PAGE_FAULTS,
    schema.NETWORK_SAMPLES,
)
"""Tables whose rows begin with a start and an end."""
_MOMENTS = (schema.SCHEDULING, schema.MEMORY_USAGE, schema.GPU_METRICS, schema.HOST_PAGE_FAULTS)
"""Tables whose rows begin with a time."""
_PID_SHIFT = 24
_NULL_STREAM = 7
NO_ID = 0xFFFF_FFFF
"""What CUPTI writes for a stream or an event that a record does not have."""
_TEMPLATE_OR_ARGUMENTS = re.compile(r"[<(].*", re.DOTALL)


def global_pid(pid: int) -> int:
    """The serialized id that nsys gives process ``pid`` of the first virtual machine."""
    return VM_GLOBAL_ID | pid << _PID_SHIFT


def short_name_of(name: str) -> str:
    """A demangled kernel name without return type, namespaces, template and call arguments."""
    bare = _TEMPLATE_OR_ARGUMENTS.sub("", name.replace("<unnamed>", "").replace("(anonymous namespace)", ""))
    return bare.split()[-1].rpartition(":")[2] if bare.split() else name


class RowStore:
    """The rows by table, and the ids that rows share. Raises ValueError for a schema that is not known."""

    def __init__(self, schema: str = "3.25") -> None:
        if schema not in RELEASES:
            raise ValueError(f"unknown schema {schema!r}; known are {', '.join(RELEASES)}")
        self.release = RELEASES[schema]
        self._rows: dict[str, list[Row]] = defaultdict(list)
        self._string_ids: dict[str, int] = {}
        self._short_name_ids: dict[str, int] = {}
        self._correlations: dict[int, int] = {}
        self._streams: dict[tuple[int, int, int, int], None] = {}
        self._threads: dict[tuple[int, int], None] = {}

    def _append(self, table: str, row: Row) -> None:
        if not self.release.has_table(table):
            raise ValueError(f"schema {self.release.schema} has no table {table}")
        self._rows[table].append(row)

    def _string_id(self, text: str) -> int:
        return self._string_ids.setdefault(text, len(self._string_ids) + 1)

    def _short_name_id(self, name: str) -> int:
        if name not in self._short_name_ids:
            self._short_name_ids[name] = self._string_id(short_name_of(name))
        return self._short_name_ids[name]

    def _place(
        self, pid: int, device: int, context: int, stream: int, correlation: int | None
    ) -> tuple[int, int, int, int, int]:
        """Where a record is, in the order of its columns; a stream that is none is not remembered."""
        if stream != NO_ID:
            self._streams[pid, device, context, stream] = None
        used = self._correlations.get(pid, 0)
        own = used + 1 if correlation is None else correlation
        self._correlations[pid] = max(used, own)
        return device, context, stream, own, global_pid(pid)

    def _thread(self, pid: int, tid: int | None) -> int:
        own = pid if tid is None else tid
        self._threads[pid, own] = None
        return global_pid(pid) | own

    def _last_event_ns(self) -> int:
        columns = chain(((table, 2) for table in _TIMED), ((table, 1) for table in _MOMENTS))
        times = chain.from_iterable(row[:count] for table, count in columns for row in self._rows.get(table, ()))
        return max((time for time in times if isinstance(time, int)), default=0)

    def _derived_tables(self) -> dict[str, list[Row]]:
        """Processes, threads, contexts and streams, as the records name them."""
        processes = dict.fromkeys(pid for pid, *_ in chain(self._streams, self._threads))
        contexts = dict.fromkeys((pid, device, context) for pid, device, context, _ in self._streams)
        name_id = self._string_id("python3") if self._threads else 0
        return {
            schema.PROCESSES: [(global_pid(pid), pid, "python3") for pid in processes],
            schema.THREAD_NAMES: [(name_id, 20, global_pid(pid) | tid) for pid, tid in self._threads],
            schema.CUDA_CONTEXT: list(contexts),
            schema.CUDA_STREAM: [
                (pid, context, stream, 3 if stream == _NULL_STREAM else 2) for pid, _, context, stream in self._streams
            ],
        }
