"""Records of a GPU besides its work: synchronisation, events, memory in use, counters."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TypeVar

from nsysan.model.codes import Code
from nsysan.model.copies import MemoryKind
from nsysan.synth.tables import schema
from nsysan.synth.tables.metadata import VM_GLOBAL_ID
from nsysan.synth.tables.row_store import NO_ID, RowStore, global_pid

_UNIT = " [Throughput %]"

Self = TypeVar("Self", bound="GpuRecords")


class SyncType(Code):
    """What a synchronisation waits for, as ENUM_CUPTI_SYNC_TYPE numbers it."""

    EVENT = 1
    STREAM_WAIT_EVENT = 2
    STREAM = 3
    CONTEXT = 4


class GpuRecords(RowStore):
    """The methods that add such records; each answers the export itself."""

    def synchronization(  # noqa: PLR0913 -- a synchronisation's place, each by name
        self: Self,
        start_ns: int,
        end_ns: int,
        sync_type: SyncType,
        *,
        event: int | None = None,
        pid: int = 100,
        device: int = 0,
        stream: int | None = None,
        context: int = 1,
        correlation: int | None = None,
    ) -> Self:
        """A synchronisation by the call with that ``correlation``; ``stream`` None is the whole context."""
        where = self._place(pid, device, context, NO_ID if stream is None else stream, correlation)
        awaited = (int(sync_type), NO_ID if event is None else event)
        self._append(schema.SYNCHRONIZATION, (start_ns, end_ns, *where, *awaited))
        return self

    def cuda_event(  # noqa: PLR0913 -- an event's place, each by name
        self: Self,
        event: int,
        *,
        pid: int = 100,
        device: int = 0,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
    ) -> Self:
        """An event put on a stream; when it fired is not collected."""
        self._append(schema.CUDA_EVENT, (*self._place(pid, device, context, stream, correlation), event))
        return self

    def memory(  # noqa: PLR0913 -- an allocation's place, each by name
        self: Self,
        time_ns: int,
        size_bytes: int,
        address: int,
        *,
        is_freed: bool = False,
        kind: MemoryKind = MemoryKind.DEVICE,
        pid: int = 100,
        device: int = 0,
        context: int = 1,
        correlation: int | None = None,
    ) -> Self:
        """Memory allocated or freed; ``correlation`` None: by no call that is recorded."""
        what = (address, size_bytes, int(kind), int(is_freed), correlation)
        self._append(schema.MEMORY_USAGE, (time_ns, global_pid(pid), device, context, *what))
        return self

    def gpu_metrics(self: Self, gpu_id: int, names: Sequence[str], *, gpu_name: str = "NVIDIA H100 80GB HBM3") -> Self:
        """The counters that are sampled on a GPU: their names, numbered in this order."""
        source_id = type_id = VM_GLOBAL_ID | gpu_id
        for metric_id, name in enumerate(names, start=1):
            row = (type_id, source_id, f"GPU Metrics [{gpu_name}]", metric_id, name + _UNIT)
            self._append(schema.GPU_METRIC_NAMES, row)
        return self

    def gpu_sample(self: Self, time_ns: int, gpu_id: int, values: Mapping[str, int]) -> Self:
        """One sample of the GPU's counters, in percent, in the order of ``gpu_metrics``.

        3.7 keeps it also as JSON, where nsys' own recipe of that release looks for it.
        """
        type_id = VM_GLOBAL_ID | gpu_id
        raw = (time_ns,) if self.release.is_new else ()
        for metric_id, value in enumerate(values.values(), start=1):
            self._append(schema.GPU_METRICS, (*raw, time_ns, type_id, metric_id, value))
        if self.release.has_table(schema.GENERIC_EVENTS):
            data = json.dumps({name: str(value) for name, value in values.items()})
            self._append(schema.GENERIC_EVENTS, (time_ns, time_ns, type_id, data))
        return self
