"""The bulk data of a trace: equal-length columns of integers, times in ns from session start.

A value that the trace does not hold is ``ABSENT``, never 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.columns import concatenated, narrowed, part_of, quickest_choice, taken

if TYPE_CHECKING:
    import pandas as pd

AnyNumber = TypeVar("AnyNumber", bound=np.integer[Any])

ABSENT = int(np.iinfo(np.int64).min)

AnyTable = TypeVar("AnyTable", bound="Table")


class Table(msgspec.Struct, frozen=True, eq=False):
    """A record type as parallel columns; row ``i`` of every column belongs to one record."""

    def __post_init__(self) -> None:
        lengths = {len(column) for column in self.columns().values()}
        if len(lengths) > 1:
            raise ValueError(f"{type(self).__name__} has columns of lengths {sorted(lengths)}")

    def __len__(self) -> int:
        return len(next(iter(self.columns().values())))

    def columns(self) -> dict[str, Int64Array]:
        """Each column by its name, in order of declaration."""
        return {name: getattr(self, name) for name in self.__struct_fields__}

    def take(self: AnyTable, rows: Int64Array | BoolArray) -> AnyTable:
        """The records at ``rows`` (positions or a mask), as a table of the same type."""
        chosen = quickest_choice(rows)
        return type(self)(**{name: taken(column, chosen) for name, column in self.columns().items()})

    def part(self: AnyTable, rows: slice) -> AnyTable:
        """Neighbouring records, without a copy of them."""
        return type(self)(**{name: part_of(column, rows) for name, column in self.columns().items()})

    @classmethod
    def concatenate(cls: type[AnyTable], pieces: Sequence[AnyTable]) -> AnyTable:
        """The records of all pieces in their order; an empty table where there are none."""
        if len(pieces) == 1:
            return pieces[0]
        columns = {name: [getattr(piece, name) for piece in pieces] for name in cls.__struct_fields__}
        return cls(**{name: concatenated(parts) for name, parts in columns.items()})

    def narrowed(self: AnyTable) -> AnyTable:
        """The same records in as few bytes as they need."""
        return type(self)(**{name: narrowed(name, column) for name, column in self.columns().items()})

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas frame with the same column names, for notebooks (needs pandas)."""
        import pandas as pd

        return pd.DataFrame({name: np.asarray(column) for name, column in self.columns().items()})


class GpuActivities(Table, frozen=True):
    """What every record of GPU work has: when, where, and which call of which process launched it."""

    start_ns: Int64Array
    end_ns: Int64Array
    global_pid: IdArray
    device_id: IdArray
    context_id: IdArray
    stream_id: IdArray
    correlation_id: IdArray


class Kernels(GpuActivities, frozen=True):
    """Kernel executions; ``name_id`` is the demangled name's key in ``Trace.strings``."""

    name_id: IdArray


class Copies(GpuActivities, frozen=True):
    """Memory copies; ``copy_kind`` is a ``CopyKind``, ``src_kind`` and ``dst_kind`` are a ``MemoryKind``."""

    size_bytes: Int64Array
    copy_kind: IdArray
    src_kind: IdArray
    dst_kind: IdArray
    src_device_id: IdArray
    dst_device_id: IdArray


class Memsets(GpuActivities, frozen=True):
    """Memory fills."""

    size_bytes: Int64Array


class GraphLaunches(GpuActivities, frozen=True):
    """Executions of a CUDA graph, each one block (``--cuda-graph-trace=graph``): the kernels inside are unknown."""

    graph_id: IdArray


class NvtxRanges(Table, frozen=True):
    """NVTX ranges on CPU threads; ``end_ns`` is ``ABSENT`` where the range was still open when the capture ended.

    ``event_type`` is an ``NvtxEvent``. ``end_global_tid`` is the thread that ended a range which another one began.
    """

    start_ns: Int64Array
    end_ns: Int64Array
    global_tid: IdArray
    domain_id: IdArray
    name_id: IdArray
    event_type: IdArray
    end_global_tid: IdArray


class NvtxMarks(Table, frozen=True):
    """Moments that the program marked."""

    start_ns: Int64Array
    global_tid: IdArray
    domain_id: IdArray
    name_id: IdArray


class NvtxDetails(Table, frozen=True):
    """What few ranges or marks bear besides a name; ``row`` is that of the range or mark, the rest may be ``ABSENT``.

    ``category_id`` is a number in the domain of the range, ``payload`` a whole number that the program gave. Keys in
    ``Trace.strings``: ``payload_id`` of any other payload as text, ``json_id`` of a JSON text.
    """

    row: Int64Array
    category_id: Int64Array
    payload: Int64Array
    payload_id: IdArray
    json_id: Int64Array


class RuntimeCalls(Table, frozen=True):
    """Calls of the CUDA runtime and driver; ``correlation_id`` is that of the GPU work a call launched.

    ``event_class`` is 0 of the runtime, 1 of the driver.
    """

    start_ns: Int64Array
    end_ns: Int64Array
    global_tid: IdArray
    correlation_id: IdArray
    name_id: IdArray
    event_class: IdArray


class ProfilerOverheads(Table, frozen=True):
    """Time that the profiler or the driver took for itself on a thread; ``overhead_type`` is an ``Overhead``.

    Exports before 2025 hold no type; the name then says what it was.
    """

    start_ns: Int64Array
    end_ns: Int64Array
    global_tid: IdArray
    name_id: IdArray
    overhead_type: IdArray


class Synchronizations(Table, frozen=True):
    """Waits for the GPU as CUPTI records them; ``sync_type`` is a ``Synchronization``."""

    start_ns: Int64Array
    end_ns: Int64Array
    global_pid: IdArray
    device_id: IdArray
    context_id: IdArray
    stream_id: IdArray
    correlation_id: IdArray
    sync_type: IdArray


class OsCalls(Table, frozen=True):
    """Calls of the operating system's runtime libraries that were long enough for nsys to record."""

    start_ns: Int64Array
    end_ns: Int64Array
    global_tid: IdArray
    name_id: IdArray


class SchedulingEvents(Table, frozen=True):
    """Moments at which a thread got onto a core (``is_on_core`` 1) or left it (0)."""

    start_ns: Int64Array
    global_tid: IdArray
    is_on_core: IdArray


class CollectiveCalls(Table, frozen=True):
    """Calls of collectives on CPU threads, with what they were asked to move.

    ``size_bytes`` is S, the whole array, as PyTorch counts it: of an all-gather what comes out on a rank, of a
    reduce-scatter and all-to-all what goes in, of a gather and scatter one rank's part times the size of the group.
    Keys in ``Trace.strings``: ``kind_id`` of a ``Collective`` value, ``dtype_id`` and ``group_id`` of the names
    PyTorch gives. ``sends_to`` and ``receives_from`` are the other end of a message, as the group counts its ranks;
    ``sequence`` is the call's number on its group.
    """

    start_ns: Int64Array
    end_ns: Int64Array
    global_tid: IdArray
    kind_id: IdArray
    dtype_id: IdArray
    group_id: IdArray
    group_size: IdArray
    size_bytes: Int64Array
    sends_to: IdArray
    receives_from: IdArray
    sequence: Int64Array


class NcclPayloads(Table, frozen=True):
    """What NCCL attached to its NVTX ranges; a range is the one of the thread that begins then.

    ``size_bytes`` is the call's own argument: the whole buffer of an all-reduce, broadcast and reduce, one rank's part
    of an all-gather and reduce-scatter, what goes to one peer of an all-to-all, gather and scatter, one message.
    ``communicator_id`` is NCCL's 64-bit hash, bit for bit; ``root`` and ``peer`` count within the communicator. Where
    one is made, ``rank`` and ``rank_count`` say which of how many the process' ``device_id`` is in it. ``dtype`` is a
    number of ``ncclDataType_t``, ``sequence`` the number of the collective on its communicator.
    """

    start_ns: Int64Array
    global_tid: IdArray
    communicator_id: Int64Array
    size_bytes: Int64Array
    root: IdArray
    peer: IdArray
    rank: IdArray
    rank_count: IdArray
    device_id: IdArray
    dtype: IdArray
    sequence: Int64Array


class KernelShapes(Table, frozen=True):
    """What each row of ``Kernels`` asks of a multiprocessor: threads and shared memory a block, registers a thread."""

    register_count: IdArray
    block_x: IdArray
    block_y: IdArray
    block_z: IdArray
    static_shared_bytes: Int64Array
    dynamic_shared_bytes: Int64Array


class KernelDimensions(Table, frozen=True):
    """How many blocks each row of ``Kernels`` has along each axis, and how many threads each of them."""

    grid_x: IdArray
    grid_y: IdArray
    grid_z: IdArray
    block_x: IdArray
    block_y: IdArray
    block_z: IdArray


class MemoryEvents(Table, frozen=True):
    """Memory that the driver handed out or took back; ``operation`` is a ``MemoryOperation``.

    ``memory_kind`` is a ``MemoryKind``. An address belongs to its process.
    """

    start_ns: Int64Array
    global_pid: IdArray
    device_id: IdArray
    address: IdArray
    size_bytes: Int64Array
    memory_kind: IdArray
    operation: IdArray


class AllocatorStates(Table, frozen=True):
    """What PyTorch's allocator had in use, and what it had reserved from the driver, after each of its events."""

    start_ns: Int64Array
    global_pid: IdArray
    device_id: IdArray
    allocated_bytes: Int64Array
    reserved_bytes: Int64Array


class GpuPageFaults(Table, frozen=True):
    """Pages of unified memory that a GPU missed; a record may stand for several faults on one page."""

    start_ns: Int64Array
    end_ns: Int64Array
    global_pid: IdArray
    device_id: IdArray
    fault_count: IdArray


class HostPageFaults(Table, frozen=True):
    """Pages of unified memory that the host missed."""

    start_ns: Int64Array
    global_pid: IdArray


class CounterSamples(Table, frozen=True):
    """Counters of GPUs, each sample the mean since the one before; ``counter`` is the place in ``Counter``.

    ``gpu_id`` is that of the machine's GPU. Several metrics may make one counter, told apart by ``metric_id``.
    """

    start_ns: Int64Array
    gpu_id: IdArray
    counter: IdArray
    metric_id: IdArray
    value: IdArray


class NetworkSamples(Table, frozen=True):
    """Counters of network adapters over stretches of time; the trace says what the numbers stand for."""

    start_ns: Int64Array
    end_ns: Int64Array
    adapter_id: IdArray
    port_id: IdArray
    list_id: IdArray
    metric_id: IdArray
    value: Int64Array


class CpuSamples(Table, frozen=True):
    """Moments at which a thread was found on a core, and the function it was in, ``ABSENT`` where that is unknown."""

    start_ns: Int64Array
    global_tid: IdArray
    name_id: IdArray


class GpuSwitches(Table, frozen=True):
    """Moments at which a GPU changed from one context to another; ``tag`` is a ``SwitchTag``."""

    start_ns: Int64Array
    gpu_id: IdArray
    context_id: IdArray
    global_pid: IdArray
    tag: IdArray
    sequence: IdArray
