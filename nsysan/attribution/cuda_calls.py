"""What a CUDA call does, by its name: the runtime's and the driver's spellings, with or without a version."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum

import numpy as np

from nsysan.model.arrays import BoolArray, IdArray
from nsysan.model.distinct import coded, distinct
from nsysan.model.trace import Trace


class CallKind(IntEnum):
    """Kinds of calls as far as a waiting GPU can tell them apart."""

    OTHER = 0
    SYNCHRONIZE = 1
    QUERY = 2
    COPY = 3
    ASYNC_COPY = 4
    ALLOCATE = 5
    FREE = 6
    LOAD = 7
    """Loads code: modules, libraries, linking, run-time compilation, entry points of the driver."""
    MODULE = 8
    """Asks for something in loaded code, which may have to be loaded for it."""
    GRAPH_BUILD = 9
    GRAPH_LAUNCH = 10
    LAUNCH = 11


_PATTERNS = (
    (CallKind.GRAPH_LAUNCH, r"cu(da)?GraphLaunch"),
    (CallKind.GRAPH_BUILD, r"cu(da)?Graph(?!ics)|cu(da)?Stream(Begin|End)Capture"),
    (CallKind.SYNCHRONIZE, r"cu\w*Synchronize"),
    (CallKind.QUERY, r"cu(da)?(Stream|Event)Query"),
    (CallKind.ASYNC_COPY, r"cu(da)?Memcpy\w*Async"),
    (CallKind.COPY, r"cu(da)?Memcpy"),
    (
        CallKind.LOAD,
        r"nvrtc|cu(Module|Library)Load|cudaLibraryLoad|cuLink|cu(da)?GetProcAddress|cudaGetDriverEntryPoint",
    ),
    (CallKind.MODULE, r"cu(da)?(Module|Library|Kernel|Func)[A-Z]|cudaGetFuncBySymbol"),
    (CallKind.FREE, r"cu(da)?(Mem)?Free"),
    (CallKind.ALLOCATE, r"cu(da)?Malloc|cuMemAlloc|cu(da)?Host(Alloc|Register|Unregister)|cuMemHost"),
    (CallKind.ALLOCATE, r"cuMem(Create|Release|Map|Unmap|Address|SetAccess)|cu(da)?MemPool"),
    (CallKind.LAUNCH, r"cu(da)?Launch|cu(da)?Memset"),
)
_KERNEL_LAUNCH = re.compile(r"cu(da)?Launch(?!HostFunc)")
_KINDS = tuple((kind, re.compile(pattern)) for kind, pattern in _PATTERNS)


def call_kind(name: str) -> CallKind:
    """The kind of the call of this name."""
    return next((kind for kind, pattern in _KINDS if pattern.match(name)), CallKind.OTHER)


def call_kinds(trace: Trace) -> IdArray:
    """The kind of each runtime call of the trace."""
    if trace.runtime_calls is None:
        return np.empty(0, np.int8)
    name_ids, name_of = coded(trace.runtime_calls.name_id)
    kinds = np.array([int(call_kind(trace.text(name_id))) for name_id in name_ids.tolist()], np.int8)
    return kinds[name_of]


def is_kernel_launch(trace: Trace, name_ids: IdArray) -> BoolArray:
    """Which of these names are of calls that launch a kernel."""
    used = distinct(name_ids).tolist()
    return np.isin(name_ids, [name_id for name_id in used if _KERNEL_LAUNCH.match(trace.text(name_id))])


def is_any(kinds: IdArray, wanted: Iterable[CallKind]) -> np.ndarray:
    """Which calls are of one of these kinds."""
    return np.isin(kinds, [int(kind) for kind in wanted])
