"""What is attached to NCCL's ranges as JSON: by NCCL's own names, or by those of nsys' advanced NCCL trace.

In that trace a call tells its count and data type, and operations, on the GPU or as the runtime schedules them, tell
which number the collective has; both bear the id of the call (``apiId``), which all ranks share.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import numpy as np

from nsysan.ingest.nsys.nccl_entries import ENTRY_COLUMNS, payload_table
from nsysan.ingest.source import Value, text
from nsysan.model.nccl_types import NCCL_TYPES, nccl_type
from nsysan.model.tables import ABSENT, NcclPayloads

_TRACED = {
    "commHash": "communicator_id",
    "commId": "communicator_id",
    "rank": "rank",
    "commRank": "rank",
    "nRanks": "rank_count",
    "nranks": "rank_count",
    "root": "root",
    "peer": "peer",
    "seqNumber": "sequence",
    "count": "count",
    "apiId": "call",
    "operationId": "operation",
}
"""What the advanced NCCL trace calls its entries."""
_NUMBERS = ENTRY_COLUMNS | _TRACED
_TYPE_NAMES = ("dataType", "datatype")
_OF_OPERATIONS = frozenset({"operation", "sequence"})
_SHARED_BY_CALL = ("communicator_id", "sequence")
"""What an operation tells of its call."""
_DEEPEST = 4

_Told = dict[str, int]


def payloads_in_json(rows: Iterable[tuple[Value, ...]]) -> Iterator[NcclPayloads]:
    """The payloads in rows of begin, thread and JSON text, however deep the known names lie in it."""
    starts, threads, told = [], [], []
    of_call: dict[int, _Told] = {}
    for start_ns, global_tid, stored in rows:
        values = dict(_values_in(text(stored) or ""))
        if not values or not isinstance(start_ns, int) or not isinstance(global_tid, int):
            continue
        if _OF_OPERATIONS & values.keys():
            of_call.setdefault(values.get("call", ABSENT), values)
            continue
        starts.append(start_ns)
        threads.append(global_tid)
        told.append(values)
    if told:
        known = [_with_operation(values, of_call) for values in told]
        yield payload_table(np.array(starts), np.array(threads), _columns(known))


def _with_operation(values: _Told, of_call: Mapping[int, _Told]) -> _Told:
    """The call with what its operation tells besides, and its size in bytes."""
    operation = of_call.get(values["call"], {}) if "call" in values else {}
    known = {column: operation[column] for column in _SHARED_BY_CALL if column in operation} | values
    if "count" in known and "dtype" in known:
        known.setdefault("size_bytes", known["count"] * NCCL_TYPES[known["dtype"]][1])
    return known


def _columns(told: list[_Told]) -> dict[str, np.ndarray]:
    names = (*ENTRY_COLUMNS.values(), "dtype", "sequence")
    return {column: np.array([_signed(values.get(column, ABSENT)) for values in told], np.int64) for column in names}


def _signed(number: int) -> int:
    """The number as 64 bits with a sign: what NCCL counts without one keeps its bits, what is larger is unknown."""
    if not -(1 << 63) <= number < 1 << 64:
        return ABSENT
    return number if number < 1 << 63 else number - (1 << 64)


@lru_cache(maxsize=4096)
def _values_in(written: str) -> tuple[tuple[str, int], ...]:
    try:
        return tuple(_known_values(json.loads(written), _DEEPEST))
    except (ValueError, RecursionError):
        return ()


def _known_values(value: object, depth: int) -> Iterator[tuple[str, int]]:
    for name, entry in value.items() if isinstance(value, dict) and depth else ():
        if name in _TYPE_NAMES:
            number = nccl_type(str(entry))
            if number is not None:
                yield "dtype", number
        elif name in _NUMBERS:
            try:
                number = int(entry, 0) if isinstance(entry, str) else int(entry)
            except (ValueError, TypeError, OverflowError):
                continue
            if -(1 << 63) < number < 1 << 64:
                yield _NUMBERS[name], number
        else:
            yield from _known_values(entry, depth - 1)
