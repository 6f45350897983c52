"""The tables of Nsight Systems' SQLite exports, as two of its releases write them.

Each table is spelt as its columns in order. A column is INTEGER unless ``:TYPE`` follows its name; ``!`` means NOT
NULL, ``#`` the primary key; ``+`` marks a column that schema 3.25 added, ``-`` one that it no longer has.
"""

from __future__ import annotations

import msgspec

KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
MEMCPY = "CUPTI_ACTIVITY_KIND_MEMCPY"
MEMSET = "CUPTI_ACTIVITY_KIND_MEMSET"
GRAPH_TRACE = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
RUNTIME = "CUPTI_ACTIVITY_KIND_RUNTIME"
NVTX_EVENTS = "NVTX_EVENTS"
PAYLOAD_SCHEMAS = "NVTX_PAYLOAD_SCHEMAS"
PAYLOAD_ENTRIES = "NVTX_PAYLOAD_SCHEMA_ENTRIES"
PAYLOAD_ENUMS = "NVTX_PAYLOAD_ENUMS"
PAYLOAD_ENUM_ENTRIES = "NVTX_PAYLOAD_ENUM_ENTRIES"
PROFILER_OVERHEAD = "PROFILER_OVERHEAD"
SYNCHRONIZATION = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"
CUDA_EVENT = "CUPTI_ACTIVITY_KIND_CUDA_EVENT"
MEMORY_USAGE = "CUDA_GPU_MEMORY_USAGE_EVENTS"
OS_RUNTIME = "OSRT_API"
SCHEDULING = "SCHED_EVENTS"
MPI_RANKS = "MPI_RANKS"
GPU_METRICS = "GPU_METRICS"
GPU_METRIC_NAMES = "TARGET_INFO_GPU_METRICS"
GENERIC_EVENTS = "GENERIC_EVENTS"
GPU_PAGE_FAULTS = "CUDA_UM_GPU_PAGE_FAULT_EVENTS"
HOST_PAGE_FAULTS = "CUDA_UM_CPU_PAGE_FAULT_EVENTS"
CPU_SAMPLES = "COMPOSITE_EVENTS"
CPU_STACKS = "SAMPLING_CALLCHAINS"
GPU_SWITCHES = "GPU_CONTEXT_SWITCH_EVENTS"
ADAPTERS = "TARGET_INFO_NIC_INFO"
ADAPTER_IDS = "NIC_ID_MAP"
NETWORK_METRICS = "TARGET_INFO_NETWORK_METRICS"
NETWORK_SAMPLES = "NET_NIC_METRIC"
GPU = "TARGET_INFO_GPU"
CUDA_DEVICE = "TARGET_INFO_CUDA_DEVICE"
CUDA_CONTEXT = "TARGET_INFO_CUDA_CONTEXT_INFO"
CUDA_STREAM = "TARGET_INFO_CUDA_STREAM"
PROCESSES = "PROCESSES"
THREAD_NAMES = "ThreadNames"
STRINGS = "StringIds"
SYSTEM_ENV = "TARGET_INFO_SYSTEM_ENV"
SESSION_START = "TARGET_INFO_SESSION_START_TIME"
ANALYSIS_DETAILS = "ANALYSIS_DETAILS"
CAPTURE_SETTINGS = "META_DATA_CAPTURE"
EXPORT_SETTINGS = "META_DATA_EXPORT"

_ON_STREAM = "deviceId! contextId! greenContextId streamId! correlationId globalPid"
_ACTIVITY = f"start! end! {_ON_STREAM}"

_TABLES = {
    STRINGS: "id!# value:TEXT!",
    SYSTEM_ENV: "globalVid devStateName:TEXT! name:TEXT! nameEnum! value:TEXT!",
    SESSION_START: "utcEpochNs utcTime:TEXT localTime:TEXT +systemClockNs",
    ANALYSIS_DETAILS: "globalVid! duration! startTime! stopTime!",
    PROCESSES: "globalPid pid name:TEXT",
    PROFILER_OVERHEAD: "start! end! globalTid nameId! -returnValue! +overheadType!",
    RUNTIME: "start! end! eventClass! globalTid correlationId nameId! returnValue! callchainId",
    MEMCPY: f"""{_ACTIVITY} bytes! copyKind! deprecatedSrcId srcKind dstKind srcDeviceId srcContextId dstDeviceId
        dstContextId migrationCause graphNodeId virtualAddress +copyCount""",
    MEMSET: f"{_ACTIVITY} value! bytes! graphNodeId memKind",
    KERNEL: f"""{_ACTIVITY} demangledName! shortName! mangledName launchType cacheConfig registersPerThread!
        gridX! gridY! gridZ! blockX! blockY! blockZ! staticSharedMemory! dynamicSharedMemory! localMemoryPerThread!
        localMemoryTotal! gridId! sharedMemoryExecuted graphNodeId sharedMemoryLimitConfig
        +qmdBulkReleaseDone +qmdPreexitDone +qmdLastCtaDone +graphId +clusterX +clusterY +clusterZ
        +clusterSchedulingPolicy +maxPotentialClusterSize +maxActiveClusters +sharedMemoryRequestedPercentage
        +tensorSizeMinusOneElements:TEXT!""",
    GRAPH_TRACE: f"{_ACTIVITY} graphId! graphExecId!",
    NVTX_EVENTS: """start! end eventType! rangeId category color text:TEXT globalTid endGlobalTid textId domainId
        uint64Value int64Value doubleValue:REAL uint32Value int32Value floatValue:REAL jsonTextId jsonText:TEXT
        +binaryData:TEXT""",
    SYNCHRONIZATION: f"{_ACTIVITY} +deprecatedSyncType syncType! eventId! +eventSyncId",
    CUDA_EVENT: f"+timestamp {_ON_STREAM} eventId! +eventSyncId",
    MEMORY_USAGE: """start! globalPid! deviceId! contextId! address! pc! bytes! memKind! memoryOperationType! name:TEXT
        correlationId localMemoryPoolAddress localMemoryPoolReleaseThreshold localMemoryPoolSize
        localMemoryPoolUtilizedSize importedMemoryPoolAddress importedMemoryPoolProcessId +streamId""",
    OS_RUNTIME: "start! end! eventClass! globalTid nameId! returnValue! nestingLevel callchainId! +argumentsId!",
    SCHEDULING: "start! cpu! isSchedIn! globalTid +threadState +threadBlock",
    MPI_RANKS: "globalTid! rank!",
    GPU_METRICS: "+rawTimestamp! -timestamp +timestamp! typeId! metricId! value!",
    GPU_METRIC_NAMES: "typeId! sourceId! typeName:TEXT! metricId! metricName:TEXT!",
    GENERIC_EVENTS: "rawTimestamp! timestamp typeId! data:TEXT!",
    GPU_PAGE_FAULTS: "start! end! globalPid! deviceId! address! numberOfPageFaults! faultAccessType!",
    HOST_PAGE_FAULTS: "start! globalPid! address! originalFaultPc CpuInstruction! module! unresolvedFaultPc",
    CPU_SAMPLES: "id!# start! cpu threadState globalTid cpuCycles!",
    CPU_STACKS: """id!# symbol! module! kernelMode thumbCode unresolved specialEntry originalIP unwindMethod
        stackDepth!#""",
    GPU_SWITCHES: "tag! vmId! seqNo! contextId! timestamp! globalPid gpuId",
    ADAPTERS: "GUID! stateName:TEXT! nicId! name:TEXT! deviceId! vendorId! linkLayer!",
    ADAPTER_IDS: "nicId! globalId!",
    NETWORK_METRICS: "metricsListId! metricsIdx! name:TEXT! description:TEXT! unit:TEXT!",
    NETWORK_SAMPLES: "start! end! globalId! +portId! metricsListId! metricsIdx! value!",
    PAYLOAD_SCHEMAS: "domainId schemaId name:TEXT type flags numEntries payloadSize alignTo",
    PAYLOAD_ENTRIES: """domainId! schemaId! idx! flags type name:TEXT description:TEXT arrayOrUnionDetail offset""",
    PAYLOAD_ENUMS: "domainId schemaId name:TEXT numEntries size",
    PAYLOAD_ENUM_ENTRIES: "domainId! schemaId! idx! name:TEXT value isFlag",
    THREAD_NAMES: "nameId! priority globalTid",
    GPU: """vmId! id! name:TEXT busLocation:TEXT isDiscrete l2CacheSize totalMemory memoryBandwidth clockRate smCount
        pwGpuId uuid:TEXT luid chipName:TEXT cuDevice ctxswDevPath:TEXT ctrlDevPath:TEXT revision nodeMask
        constantMemory maxIPC maxRegistersPerBlock maxShmemPerBlock maxShmemPerBlockOptin maxShmemPerSm
        maxRegistersPerSm threadsPerWarp asyncEngines maxWarpsPerSm maxBlocksPerSm maxThreadsPerBlock
        maxBlockDimX maxBlockDimY maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ computeMajor computeMinor
        smMajor smMinor""",
    CUDA_DEVICE: "gpuId cudaId! pid! uuid:TEXT numMultiprocessors",
    CUDA_CONTEXT: """nullStreamId! hwId! vmId! processId! deviceId! contextId! parentContextId isGreenContext
        +numMultiprocessors +numTpcs +tpcMask:TEXT +workqueueResourceId +workqueueConcurrencyLimit
        +workqueueSharingScope""",
    CUDA_STREAM: "streamId! hwId! vmId! processId! contextId! priority! flag!",
    CAPTURE_SETTINGS: "name:TEXT! value:TEXT",
    EXPORT_SETTINGS: "name:TEXT! value:TEXT",
}
ENUMERATION_COLUMNS = "id!# name:TEXT label:TEXT"

ALWAYS_THERE = frozenset({STRINGS, SYSTEM_ENV, SESSION_START, CAPTURE_SETTINGS, EXPORT_SETTINGS})
"""Tables that even a lazy export makes without rows; any other exists only where it has some."""

_NEW_TABLES = frozenset(
    {GRAPH_TRACE, CUDA_DEVICE, PAYLOAD_SCHEMAS, PAYLOAD_ENTRIES, PAYLOAD_ENUMS, PAYLOAD_ENUM_ENTRIES}
)
_OLD_TABLES = frozenset({GENERIC_EVENTS})


class Column(msgspec.Struct, frozen=True):
    """One column of a table."""

    name: str
    type: str
    required: bool
    primary_key: bool


class Release(msgspec.Struct, frozen=True):
    """A release of Nsight Systems: its version, and the schema its exporter writes."""

    schema: str
    export_schema: str
    nsys_version: str

    @property
    def is_new(self) -> bool:
        """Whether the columns and tables that schema 3.25 added are there."""
        return self.schema == "3.25"

    def has_table(self, table: str) -> bool:
        """Whether this schema knows the table at all."""
        return table not in (_OLD_TABLES if self.is_new else _NEW_TABLES)

    def columns(self, table: str) -> tuple[Column, ...]:
        """The columns of a table, in order. Raises KeyError for a table this schema does not have."""
        if not self.has_table(table):
            raise KeyError(table)
        return self.parse_columns(_TABLES[table])

    def parse_columns(self, spelling: str) -> tuple[Column, ...]:
        """The columns that a line in this module's notation spells for this release."""
        hidden = "-" if self.is_new else "+"
        return tuple(_column(word.lstrip("+-")) for word in spelling.split() if not word.startswith(hidden))


RELEASES = {
    "3.7": Release("3.7", "3.7.2", "2023.4.4.54"),
    "3.25": Release("3.25", "3.25.0", "2026.2.1.210"),
}


def _column(word: str) -> Column:
    bare = word.rstrip("!#")
    name, _, column_type = bare.partition(":")
    return Column(name, column_type or "INTEGER", "!" in word, "#" in word)
