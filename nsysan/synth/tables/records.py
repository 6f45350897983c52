"""The columns of a record that vary between synthetic traces, and what the others hold in all of them."""

from __future__ import annotations

from nsysan.synth.tables import schema

Value = int | float | str | bytes | None

_WHERE = "deviceId contextId streamId correlationId globalPid"

VARYING = {
    schema.STRINGS: "id value",
    schema.SYSTEM_ENV: "globalVid devStateName name nameEnum value",
    schema.SESSION_START: "utcEpochNs utcTime localTime",
    schema.ANALYSIS_DETAILS: "globalVid duration startTime stopTime",
    schema.PROCESSES: "globalPid pid name",
    schema.THREAD_NAMES: "nameId priority globalTid",
    schema.PROFILER_OVERHEAD: "start end globalTid nameId -returnValue +overheadType",
    schema.RUNTIME: "start end eventClass globalTid correlationId nameId",
    schema.MEMCPY: f"start end {_WHERE} bytes copyKind srcKind dstKind srcDeviceId dstDeviceId",
    schema.MEMSET: f"start end {_WHERE} bytes",
    schema.KERNEL: f"""start end {_WHERE} demangledName shortName registersPerThread blockX blockY blockZ
        staticSharedMemory dynamicSharedMemory gridX gridY gridZ""",
    schema.GRAPH_TRACE: f"start end {_WHERE} graphId graphExecId",
    schema.NVTX_EVENTS: "start end eventType text globalTid textId domainId rangeId category endGlobalTid +binaryData",
    schema.SYNCHRONIZATION: f"start end {_WHERE} syncType eventId",
    schema.CUDA_EVENT: f"{_WHERE} eventId",
    schema.MEMORY_USAGE: """start globalPid deviceId contextId address bytes memKind memoryOperationType
        correlationId""",
    schema.OS_RUNTIME: "start end globalTid nameId",
    schema.SCHEDULING: "start cpu isSchedIn globalTid",
    schema.MPI_RANKS: "globalTid rank",
    schema.GPU_METRICS: "+rawTimestamp timestamp typeId metricId value",
    schema.GPU_METRIC_NAMES: "typeId sourceId typeName metricId metricName",
    schema.GENERIC_EVENTS: "rawTimestamp timestamp typeId data",
    schema.GPU_PAGE_FAULTS: "start end globalPid deviceId address numberOfPageFaults faultAccessType",
    schema.HOST_PAGE_FAULTS: "start globalPid address CpuInstruction module",
    schema.CPU_SAMPLES: "id start threadState globalTid",
    schema.CPU_STACKS: "id symbol module stackDepth",
    schema.GPU_SWITCHES: "tag seqNo contextId timestamp globalPid gpuId",
    schema.ADAPTERS: "GUID stateName nicId name",
    schema.ADAPTER_IDS: "nicId globalId",
    schema.NETWORK_METRICS: "metricsListId metricsIdx name description unit",
    schema.NETWORK_SAMPLES: "start end globalId +portId metricsListId metricsIdx value",
    schema.PAYLOAD_SCHEMAS: "domainId schemaId numEntries payloadSize",
    schema.PAYLOAD_ENTRIES: "domainId schemaId idx type name offset",
    schema.PAYLOAD_ENUMS: "domainId schemaId numEntries size",
    schema.PAYLOAD_ENUM_ENTRIES: "domainId schemaId idx name value",
    schema.GPU: """id name busLocation totalMemory memoryBandwidth smCount uuid cuDevice pwGpuId computeMajor
        threadsPerWarp maxWarpsPerSm maxBlocksPerSm maxRegistersPerSm maxShmemPerSm""",
    schema.CUDA_DEVICE: "gpuId cudaId pid uuid numMultiprocessors",
    schema.CUDA_CONTEXT: "processId deviceId contextId",
    schema.CUDA_STREAM: "processId contextId streamId flag",
    schema.CAPTURE_SETTINGS: "name value",
    schema.EXPORT_SETTINGS: "name value",
}
"""Per table, the columns that ``Export`` fills, in the order of its rows and the notation of ``schema``."""

CONSTANT: dict[str, dict[str, int | str]] = {
    schema.RUNTIME: {"returnValue": 0},
    schema.SESSION_START: {"systemClockNs": 0},
    schema.MEMCPY: {"copyCount": 1},
    schema.MEMSET: {"value": 0, "memKind": 2},
    schema.KERNEL: {
        "launchType": 1,
        "cacheConfig": 1,
        "localMemoryPerThread": 0,
        "localMemoryTotal": 0,
        "gridId": 1,
        "tensorSizeMinusOneElements": "[]",
    },
    schema.SYNCHRONIZATION: {"eventSyncId": 0},
    schema.CUDA_EVENT: {"eventSyncId": 0},
    schema.MEMORY_USAGE: {"pc": 0x7F00_0000_1000},
    schema.OS_RUNTIME: {"eventClass": 27, "returnValue": 0, "nestingLevel": 0, "callchainId": 0, "argumentsId": 0},
    schema.SCHEDULING: {"threadState": 0},
    schema.CPU_SAMPLES: {"cpuCycles": 1_000_000},
    schema.GPU_SWITCHES: {"vmId": 1},
    schema.ADAPTERS: {"deviceId": 4129, "vendorId": 5555, "linkLayer": 2},
    schema.PAYLOAD_SCHEMAS: {"type": 1},
    schema.GPU: {"vmId": 1 << 48, "isDiscrete": 1},
    schema.CUDA_CONTEXT: {"nullStreamId": 7, "hwId": 0, "vmId": 1},
    schema.CUDA_STREAM: {"hwId": 0, "vmId": 1, "priority": 0},
}
"""Per table, the value of every other column that must not be NULL or never is; the rest is NULL."""
