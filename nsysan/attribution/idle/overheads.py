"""What the profiler did to the threads it watched."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from nsysan.attribution.idle.codes import code_of
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import coded
from nsysan.model.host_events import Overhead
from nsysan.model.idle import Cause
from nsysan.model.tables import ABSENT
from nsysan.model.trace import Trace

_LOADING_TYPES = (Overhead.DRIVER_COMPILER, Overhead.MODULE_LOADING, Overhead.LAZY_FUNCTION_LOADING)
_NAMES = (
    (Overhead.BUFFER_FLUSH, re.compile("flush", re.IGNORECASE)),
    (Overhead.DRIVER_COMPILER, re.compile("jit compiler|driver compiler", re.IGNORECASE)),
    (Overhead.LAZY_FUNCTION_LOADING, re.compile("lazy function", re.IGNORECASE)),
    (Overhead.MODULE_LOADING, re.compile("module loading", re.IGNORECASE)),
)


def overhead_types(trace: Trace) -> Int64Array:
    """The ``Overhead`` of each overhead row; where the export has no type, what its name says."""
    overheads = trace.profiler_overheads
    if overheads is None:
        return np.empty(0, np.int64)
    name_ids, name_of = coded(overheads.name_id)
    named = np.array([_type_of(trace.text(name_id)) for name_id in name_ids.tolist()], np.int64)
    return np.where(overheads.overhead_type == ABSENT, named[name_of], overheads.overhead_type)


def overhead_causes(types: Int64Array) -> Int64Array:
    """The cause code of each overhead row: code that the driver loads is no fault of the profiler."""
    loads = np.isin(types, [int(kind) for kind in _LOADING_TYPES])
    return np.where(loads, code_of(Cause.MODULE_LOADING), code_of(Cause.PROFILER_OVERHEAD))


def _type_of(name: str) -> int:
    named: Iterator[Overhead] = (kind for kind, pattern in _NAMES if pattern.search(name))
    return int(next(named, Overhead.UNDEFINED))
