"""The tables and columns of an nsys export that nsysan reads: one place, for the reader and for what nsys is asked for.

Names and types have changed between releases of nsys, so a table has alternative names, a column alternative sources,
and only what a record is nothing without is required.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

import msgspec

from nsysan.ingest.columns import Column, Need, Scope
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.host_events import STACKED, NvtxEvent
from nsysan.model.tables import (
    AnyTable,
    Copies,
    GpuPageFaults,
    GpuSwitches,
    GraphLaunches,
    HostPageFaults,
    Kernels,
    MemoryEvents,
    Memsets,
    NetworkSamples,
    NvtxMarks,
    NvtxRanges,
    OsCalls,
    ProfilerOverheads,
    RuntimeCalls,
    SchedulingEvents,
    Synchronizations,
    Table,
)

STRINGS = "StringIds"
EXPORT_SETTINGS = ("META_DATA_EXPORT", "EXPORT_META_DATA")
"""What the exporter says about itself; up to nsys 2022.4 by the second name."""
CAPTURE_SETTINGS = "META_DATA_CAPTURE"
SYSTEM_PROPERTIES = "TARGET_INFO_SYSTEM_ENV"
SESSION_START = "TARGET_INFO_SESSION_START_TIME"
CAPTURE_DETAILS = "ANALYSIS_DETAILS"
GPUS = "TARGET_INFO_GPU"
CUDA_DEVICES = "TARGET_INFO_CUDA_DEVICE"
PAYLOAD_ENTRIES = "NVTX_PAYLOAD_SCHEMA_ENTRIES"
MPI_RANKS = "MPI_RANKS"
MPI_COMMUNICATORS = "MPI_COMMUNICATORS"
SEEN_GPUS = "TARGET_INFO_CUDA_GPU"
"""The GPUs that each process saw; nsys 2020 wrote this, and neither of the two before."""
COUNTER_NAMES = "TARGET_INFO_GPU_METRICS"
GENERIC_EVENTS = "GENERIC_EVENTS"
"""Events as JSON; before 2023 the counters of GPUs are nowhere else."""
NETWORK_METRICS = "TARGET_INFO_NETWORK_METRICS"
ADAPTERS = "TARGET_INFO_NIC_INFO"
ADAPTER_IDS = "NIC_ID_MAP"
PROCESSES = "PROCESSES"


class RecordTable(msgspec.Struct, Generic[AnyTable], frozen=True):
    """A kind of records: the table that holds them, by any of its names, and its columns as fields of ``record``."""

    record: type[AnyTable]
    names: tuple[str, ...]
    columns: tuple[Column, ...]
    scope: Scope | None = None


class StoredRanges(NvtxRanges, frozen=True):
    """NVTX ranges as they are stored, with what few of them bear."""

    category_id: Int64Array
    payload: Int64Array
    json_id: Int64Array


class DetailedRanges(StoredRanges, frozen=True):
    """NVTX ranges with all columns of ``NvtxDetails``."""

    payload_id: IdArray


class NvtxPoints(NvtxMarks, frozen=True):
    """What NVTX records at a moment, by ``event_type``: marks, likewise, and the names of domains and categories.

    A domain's id is unique in its process only, a category's in its domain.
    """

    event_type: Int64Array
    category_id: Int64Array
    payload: Int64Array
    payload_id: IdArray
    json_id: Int64Array

    def of_type(self, event: NvtxEvent) -> NvtxPoints:
        """The records of one kind."""
        return self.take(self.event_type == event)


class StoredSamples(Table, frozen=True):
    """Samples of counters as nsys stores them; the lowest byte of ``type_id`` is the GPU's id."""

    start_ns: Int64Array
    type_id: Int64Array
    metric_id: Int64Array
    value: Int64Array


class ThreadSamples(Table, frozen=True):
    """Moments at which threads were found on a core; ``sample_id`` leads to the stack."""

    start_ns: Int64Array
    global_tid: Int64Array
    sample_id: Int64Array


class StackTops(Table, frozen=True):
    """The function at the top of the stack of each sample."""

    sample_id: Int64Array
    name_id: Int64Array


def _required(name: str, source: str) -> Column:
    return Column(name, (source,), Need.REQUIRED)


def _optional(name: str, *sources: str, inline_text: str | None = None) -> Column:
    return Column(name, sources, Need.OPTIONAL, inline_text)


_TIMES = (_required("start_ns", "start"), _required("end_ns", "end"))
_ACTIVITY = (
    *_TIMES,
    _required("global_pid", "globalPid"),
    _required("device_id", "deviceId"),
    _optional("context_id", "contextId"),
    _optional("stream_id", "streamId"),
    _optional("correlation_id", "correlationId"),
)

KERNELS = RecordTable(
    Kernels,
    ("CUPTI_ACTIVITY_KIND_KERNEL",),
    (*_ACTIVITY, _optional("name_id", "demangledName", "shortName", "mangledName")),
)
KERNEL_SHAPE = (
    _optional("register_count", "registersPerThread"),
    *(_optional(f"block_{axis.lower()}", f"block{axis}") for axis in "XYZ"),
    _optional("static_shared_bytes", "staticSharedMemory"),
    _optional("dynamic_shared_bytes", "dynamicSharedMemory"),
)
KERNEL_GRID = tuple(_optional(f"grid_{axis.lower()}", f"grid{axis}") for axis in "XYZ")
"""More columns of kernels, read with them where they are asked for."""
COPIES = RecordTable(
    Copies,
    ("CUPTI_ACTIVITY_KIND_MEMCPY",),
    (
        *_ACTIVITY,
        _optional("size_bytes", "bytes"),
        _optional("copy_kind", "copyKind"),
        _optional("src_kind", "srcKind"),
        _optional("dst_kind", "dstKind"),
        _optional("src_device_id", "srcDeviceId"),
        _optional("dst_device_id", "dstDeviceId"),
    ),
)
MEMSETS = RecordTable(Memsets, ("CUPTI_ACTIVITY_KIND_MEMSET",), (*_ACTIVITY, _optional("size_bytes", "bytes")))
GRAPH_LAUNCHES = RecordTable(
    GraphLaunches, ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE",), (*_ACTIVITY, _optional("graph_id", "graphId"))
)

RUNTIME_CALLS = RecordTable(
    RuntimeCalls,
    ("CUPTI_ACTIVITY_KIND_RUNTIME",),
    (
        *_TIMES,
        _optional("global_tid", "globalTid"),
        _optional("correlation_id", "correlationId"),
        _optional("name_id", "nameId"),
        _optional("event_class", "eventClass"),
    ),
)
SYNCHRONIZATIONS = RecordTable(
    Synchronizations, ("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",), (*_ACTIVITY, _optional("sync_type", "syncType"))
)

_NAMED_ON_THREAD = (*_TIMES, _optional("global_tid", "globalTid"), _optional("name_id", "nameId"))
_OVERHEAD = (*_NAMED_ON_THREAD, _optional("overhead_type", "overheadType"))
PROFILER_OVERHEADS = RecordTable(ProfilerOverheads, ("PROFILER_OVERHEAD",), _OVERHEAD)
CUDA_OVERHEADS = RecordTable(ProfilerOverheads, ("CUPTI_ACTIVITY_KIND_OVERHEAD",), _OVERHEAD)
"""What releases of 2026 moved out of the table before: loading of code, which the driver does for itself."""
OS_CALLS = RecordTable(OsCalls, ("OSRT_API",), _NAMED_ON_THREAD)
SCHEDULING_EVENTS = RecordTable(
    SchedulingEvents,
    ("SCHED_EVENTS",),
    (_required("start_ns", "start"), _required("global_tid", "globalTid"), _required("is_on_core", "isSchedIn")),
)

_NVTX_NAMES = ("NVTX_EVENTS", "NVTX_EVENTS_V2")
_NVTX_PLACE = (
    _optional("global_tid", "globalTid"),
    _optional("domain_id", "domainId"),
    _optional("name_id", "textId", inline_text="text"),
)
_NVTX_DETAILS = (
    _optional("category_id", "category"),
    # of the union of payloads the whole numbers: payload_texts reads the others
    _optional("payload", "uint64Value", "int64Value", "uint32Value", "int32Value"),
    _optional("json_id", "jsonTextId", inline_text="jsonText"),
)
NVTX_RANGES = Scope("eventType", (*STACKED, NvtxEvent.START_END, NvtxEvent.IMPORTED_START_END))
NVTX_POINTS = Scope("eventType", (NvtxEvent.MARK, NvtxEvent.CATEGORY, NvtxEvent.DOMAIN_CREATE))
DOMAIN_NAMES = Scope("eventType", (NvtxEvent.DOMAIN_CREATE,))
"""The NVTX records that are ranges, those of a moment, and of these what names a domain."""
NVTX_EVENTS = RecordTable(
    StoredRanges,
    _NVTX_NAMES,
    (
        _required("start_ns", "start"),
        Column("end_ns", ("end",), Need.OPEN),
        *_NVTX_PLACE,
        _required("event_type", "eventType"),
        _optional("end_global_tid", "endGlobalTid"),
        *_NVTX_DETAILS,
    ),
    Scope("eventType", (*NVTX_RANGES.values, *NVTX_POINTS.values)),
)

MEMORY_EVENTS = RecordTable(
    MemoryEvents,
    ("CUDA_GPU_MEMORY_USAGE_EVENTS",),
    (
        _required("start_ns", "start"),
        _required("global_pid", "globalPid"),
        _required("device_id", "deviceId"),
        _required("address", "address"),
        _required("size_bytes", "bytes"),
        _optional("memory_kind", "memKind"),
        _required("operation", "memoryOperationType"),
    ),
)
GPU_PAGE_FAULTS = RecordTable(
    GpuPageFaults,
    ("CUDA_UM_GPU_PAGE_FAULT_EVENTS",),
    (
        *_TIMES,
        _required("global_pid", "globalPid"),
        _required("device_id", "deviceId"),
        _required("fault_count", "numberOfPageFaults"),
    ),
)
HOST_PAGE_FAULTS = RecordTable(
    HostPageFaults,
    ("CUDA_UM_CPU_PAGE_FAULT_EVENTS",),
    (_required("start_ns", "start"), _required("global_pid", "globalPid")),
)
COUNTER_SAMPLES = RecordTable(
    StoredSamples,
    ("GPU_METRICS",),
    (
        _required("start_ns", "timestamp"),
        _required("type_id", "typeId"),
        _required("metric_id", "metricId"),
        _required("value", "value"),
    ),
)
NETWORK_SAMPLES = RecordTable(
    NetworkSamples,
    ("NET_NIC_METRIC",),
    (
        *_TIMES,
        _required("adapter_id", "globalId"),
        _optional("port_id", "portId"),
        _required("list_id", "metricsListId"),
        _required("metric_id", "metricsIdx"),
        _required("value", "value"),
    ),
)
_RUNNING = 1
THREAD_SAMPLES = RecordTable(
    ThreadSamples,
    ("COMPOSITE_EVENTS",),
    (_required("start_ns", "start"), _required("global_tid", "globalTid"), _required("sample_id", "id")),
    # the others are stacks that go with an event: they say nothing of how long a thread runs
    Scope("threadState", (_RUNNING,)),
)
STACK_TOPS = RecordTable(
    StackTops,
    ("SAMPLING_CALLCHAINS",),
    (_required("sample_id", "id"), _required("name_id", "symbol")),
    Scope("stackDepth", (0,)),
)
GPU_SWITCHES = RecordTable(
    GpuSwitches,
    ("GPU_CONTEXT_SWITCH_EVENTS", "FECS_EVENTS"),
    (
        _required("start_ns", "timestamp"),
        _required("gpu_id", "gpuId"),
        _required("context_id", "contextId"),
        _optional("global_pid", "globalPid"),
        _required("tag", "tag"),
        _optional("sequence", "seqNo"),
    ),
)

_RECORDS = (
    KERNELS,
    COPIES,
    MEMSETS,
    GRAPH_LAUNCHES,
    RUNTIME_CALLS,
    SYNCHRONIZATIONS,
    PROFILER_OVERHEADS,
    CUDA_OVERHEADS,
    OS_CALLS,
    SCHEDULING_EVENTS,
    NVTX_EVENTS,
    MEMORY_EVENTS,
    GPU_PAGE_FAULTS,
    HOST_PAGE_FAULTS,
    COUNTER_SAMPLES,
    NETWORK_SAMPLES,
    THREAD_SAMPLES,
    STACK_TOPS,
    GPU_SWITCHES,
)
WORK: Mapping[str, RecordTable[Any]] = {
    "kernels": KERNELS,
    "copies": COPIES,
    "memsets": MEMSETS,
    "graph_launches": GRAPH_LAUNCHES,
}
"""The kinds of GPU work, by the fields of a Trace that hold them."""
TABLE_NAMES = (
    *(name for kind in _RECORDS for name in kind.names),
    STRINGS,
    *EXPORT_SETTINGS,
    CAPTURE_SETTINGS,
    SYSTEM_PROPERTIES,
    SESSION_START,
    CAPTURE_DETAILS,
    GPUS,
    CUDA_DEVICES,
    SEEN_GPUS,
    PAYLOAD_ENTRIES,
    MPI_RANKS,
    MPI_COMMUNICATORS,
    COUNTER_NAMES,
    GENERIC_EVENTS,
    NETWORK_METRICS,
    ADAPTERS,
    ADAPTER_IDS,
    PROCESSES,
)
"""Every table nsysan reads; ``nsys export --tables`` matches whole names and adds nothing that they depend on."""
