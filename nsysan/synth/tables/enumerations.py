"""The ENUM_* tables of an export, as far as CUDA and NVTX records refer to them."""

from __future__ import annotations

from collections.abc import Collection

from nsysan.model.copies import MemoryKind
from nsysan.synth.tables import schema
from nsysan.synth.tables.schema import Release

EnumerationRow = tuple[int, str, str]

_OVERHEAD_TYPES: tuple[EnumerationRow, ...] = (
    (0, "OVERHEAD_UNDEFINED", "Undefined"),
    (1, "OVERHEAD_UNKNOWN", "Unknown"),
    (2, "OVERHEAD_DRIVER_COMPILER", "Driver JIT compiler (CUDA)"),
    (3, "OVERHEAD_CUPTI_BUFFER_FLUSH", "Buffer flush (Profiler)"),
    (4, "OVERHEAD_CUPTI_INSTRUMENTATION", "Instrumentation (Profiler)"),
    (5, "OVERHEAD_CUPTI_RESOURCE", "Resource creation/destruction (Profiler)"),
    (6, "OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING", "Runtime module loading (CUDA)"),
    (7, "OVERHEAD_LAZY_FUNCTION_LOADING", "Lazy function loading (CUDA)"),
    (8, "OVERHEAD_COMMAND_BUFFER_FULL", "Command buffer full (CUDA)"),
)
_ENUMERATIONS: dict[str, tuple[EnumerationRow, ...]] = {
    "ENUM_NSYS_EVENT_TYPE": (
        (33, "NvtxCategory", "NvtxCategory"),
        (34, "NvtxMark", "NvtxMark"),
        (39, "NvtxThread", "NvtxThread"),
        (59, "NvtxPushPopRange", "NvtxPushPopRange"),
        (60, "NvtxStartEndRange", "NvtxStartEndRange"),
        (75, "NvtxDomainCreate", "NvtxDomainCreate"),
        (76, "NvtxDomainDestroy", "NvtxDomainDestroy"),
    ),
    "ENUM_NSYS_EVENT_CLASS": (
        (0, "TRACE_PROCESS_EVENT_CUDA_RUNTIME", "CUDA runtime"),
        (1, "TRACE_PROCESS_EVENT_CUDA_DRIVER", "CUDA driver"),
    ),
    "ENUM_CUDA_MEMCPY_OPER": (
        (0, "CUDA_MEMCPY_KIND_UNKNOWN", "Unknown"),
        (1, "CUDA_MEMCPY_KIND_HTOD", "Host-to-Device"),
        (2, "CUDA_MEMCPY_KIND_DTOH", "Device-to-Host"),
        (8, "CUDA_MEMCPY_KIND_DTOD", "Device-to-Device"),
        (9, "CUDA_MEMCPY_KIND_HTOH", "Host-to-Host"),
        (10, "CUDA_MEMCPY_KIND_PTOP", "Peer-to-Peer"),
        (11, "CUDA_MEMCPY_KIND_UVM_HTOD", "Unified Host-to-Device"),
        (12, "CUDA_MEMCPY_KIND_UVM_DTOH", "Unified Device-to-Host"),
        (13, "CUDA_MEMCPY_KIND_UVM_DTOD", "Unified Device-to-Device"),
    ),
    "ENUM_CUDA_MEM_KIND": tuple(
        (int(kind), f"CUDA_MEMOPR_MEMORY_KIND_{kind.name}", kind.name.replace("_", " ").title()) for kind in MemoryKind
    ),
    "ENUM_CUDA_KERNEL_LAUNCH_TYPE": (
        (0, "CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN", "Unknown"),
        (1, "CUDA_KERNEL_LAUNCH_TYPE_REGULAR", "Regular"),
    ),
    "ENUM_CUPTI_STREAM_TYPE": (
        (0, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN", "Unknown stream type"),
        (1, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT", "Default stream"),
        (2, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING", "Non-blocking stream"),
        (3, "CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL", "Null stream"),
    ),
}


_OS_RUNTIME_CLASSES: tuple[EnumerationRow, ...] = (
    (27, "TRACE_PROCESS_EVENT_OS_RUNTIME", "OSRT runtime"),
    (31, "TRACE_PROCESS_EVENT_OS_RUNTIME_START", "OSRT start"),
    (32, "TRACE_PROCESS_EVENT_OS_RUNTIME_FINISH", "OSRT finish"),
)
_SYNC_TYPES: tuple[EnumerationRow, ...] = (
    (0, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN", "Unknown"),
    (1, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE", "Event sync"),
    (2, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT", "Stream wait sync"),
    (3, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE", "Stream sync"),
    (4, "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE", "Context sync"),
)
_MEMORY_OPERATIONS: tuple[EnumerationRow, ...] = (
    (0, "CUDA_DEV_MEM_EVENT_OPR_ALLOCATION", "Allocation"),
    (1, "CUDA_DEV_MEM_EVENT_OPR_DEALLOCATION", "Deallocation"),
)
_THREAD_STATES: tuple[EnumerationRow, ...] = (
    (0, "Unknown", "Unknown"),
    (1, "Running", "Running"),
    (2, "Interruptible", "Interruptible"),
    (3, "Uninterruptible", "Uninterruptible"),
    (4, "Stopped", "Stopped"),
    (5, "Terminated", "Terminated"),
)


def enumerations(release: Release, tables: Collection[str]) -> dict[str, tuple[EnumerationRow, ...]]:
    """The rows (id, name, label) of each ENUM_* table that the release writes beside ``tables``."""
    found = dict(_ENUMERATIONS)
    if release.is_new:
        found["ENUM_CUPTI_OVERHEAD_TYPE"] = _OVERHEAD_TYPES
    if schema.OS_RUNTIME in tables:
        found["ENUM_NSYS_EVENT_CLASS"] += _OS_RUNTIME_CLASSES
    if schema.SYNCHRONIZATION in tables:
        found["ENUM_CUPTI_SYNC_TYPE"] = _SYNC_TYPES
    if schema.MEMORY_USAGE in tables:
        found["ENUM_CUDA_DEV_MEM_EVENT_OPER"] = _MEMORY_OPERATIONS
    if schema.SCHEDULING in tables:
        found["ENUM_SAMPLING_THREAD_STATE"] = _THREAD_STATES
    return found
