"""Payloads of NVTX events that no int64 holds, as texts: large and floating-point numbers, binary ones by schema."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice

import msgspec
import numpy as np

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import NVTX_EVENTS, PAYLOAD_ENTRIES, DetailedRanges, StoredRanges
from nsysan.ingest.source import Value, integer, text
from nsysan.model.arrays import Int64Array
from nsysan.model.columns import narrowed
from nsysan.model.tables import ABSENT

_EVENT = ("start", "globalTid", "domainId", "eventType")
"""What tells an event from the others of the export; of equal ones the first bears the payload."""
_DOUBLE, _FLOAT, _BINARY, _UNSIGNED = "doubleValue", "floatValue", "binaryData", "uint64Value"
_FORMATS = dict(zip((*range(3, 21), 22, 42, 43, 44), "hHiIqQqQbBhHiIqQfdQefd", strict=True))
"""The numbers among the types of nvToolsExtPayload.h, as ``struct`` calls them, on a 64-bit machine with Linux."""
_HEADER = struct.Struct("<IIIIQQ")
"""Before each payload: domain, 0, schema, 0, and the sizes of payload and blob."""

_FIRST_SCHEMA = 1 << 24
"""From here on a type is no number but another schema of the domain, whose entries lie there."""
_DEEPEST, _MOST_NUMBERS, _LONGEST_NAME = 4, 64, 1000
"""Schemas that name each other would have no end."""

_Schemas = Mapping[tuple[int, int], tuple["_Entry", ...]]


class _Entry(msgspec.Struct, frozen=True):
    """A number in a payload: its name, where it lies, and as what; or the schema ``nested`` of what lies there."""

    name: str
    offset: int
    stored_as: str
    nested: int | None = None


def with_payload_texts(export: OpenExport, *parts: StoredRanges | None) -> Iterator[DetailedRanges | None]:
    """The events with the id of each one's payload text, ``ABSENT`` where it has none or one that is a whole number.

    They are parts of one table; no event of one part has the type of one of another.
    """
    present = [events for events in parts if events is not None]
    told = np.fromiter(chain.from_iterable(_told(export, present)), np.int64).reshape(-1, len(_EVENT) + 1)
    return (None if events is None else _with_texts(events, told) for events in parts)


def _with_texts(events: StoredRanges, told: Int64Array) -> DetailedRanges:
    if not len(told):
        return DetailedRanges(**events.columns(), payload_id=np.broadcast_to(np.int64(ABSENT), len(events)))
    ids = np.full(len(events), ABSENT)
    near = np.flatnonzero(np.isin(events.start_ns, told[:, 0]))
    columns = (events.start_ns, events.global_tid, events.domain_id, events.event_type)
    rows, payloads = _pairs(np.column_stack([column[near] for column in columns]), told[:, :-1])
    ids[near[rows]] = told[payloads, -1]
    return DetailedRanges(**events.columns(), payload_id=narrowed("payload_id", ids))


def _pairs(left: Int64Array, right: Int64Array) -> tuple[Int64Array, Int64Array]:
    """The rows of the left with an equal one on the right, the first of each, and the rows of these."""
    keys = np.concatenate([left, right])
    _, key_of = np.unique(keys, axis=0, return_inverse=True)
    of_left, of_right = np.split(key_of.reshape(-1), [len(left)])
    (left_keys, left_rows), (right_keys, right_rows) = (np.unique(of, return_index=True) for of in (of_left, of_right))
    return left_rows[np.isin(left_keys, right_keys)], right_rows[np.isin(right_keys, left_keys)]


def _told(export: OpenExport, parts: Sequence[StoredRanges]) -> Iterator[tuple[int, ...]]:
    """The place of each event that bears such a payload, and the id of its text."""
    table, schemas, texts = export.table(NVTX_EVENTS.names), _schemas(export), export.source.inline_texts
    if table is None or not parts:
        return
    writers = {_BINARY: lambda blob: _written(blob, schemas), _FLOAT: _single, _DOUBLE: _double}
    if any(bool(((events.payload < 0) & (events.payload != ABSENT)).any()) for events in parts):
        # one by one only where there are such: whole numbers may stand in every row
        writers[_UNSIGNED] = _large
    used = export.source.used_columns(table, writers)
    for column, write in writers.items():
        if column not in used or (column == _BINARY and not schemas):
            continue
        id_of: dict[Value, int] = {}
        for *event, payload in export.source.rows_with(table, column, (*_EVENT, column)):
            if payload not in id_of:
                written = write(payload)
                id_of[payload] = texts.id_of(written) if written else ABSENT
            yield *map(_place, event), id_of[payload]


def _place(value: Value) -> int:
    """The value if it is an integer of 64 bits, else ``ABSENT``; Parquet may hold larger ones."""
    return value if isinstance(value, int) and -(1 << 63) <= value < 1 << 63 else ABSENT


def _double(payload: Value) -> str:
    """The shortest text that is this number."""
    return str(float(payload)) if isinstance(payload, (int, float)) else ""


def _single(payload: Value) -> str:
    """The shortest text that is this number in single precision; what is too large for it is damage, and ``inf``."""
    with np.errstate(over="ignore"):
        return str(np.float32(payload)) if isinstance(payload, (int, float)) else ""


def _large(payload: Value) -> str:
    """A number of 64 bits without a sign whose highest is set: SQLite has none, and shows it negative."""
    return str(payload % (1 << 64)) if isinstance(payload, int) and not 0 <= payload < 1 << 63 else ""


def _schemas(export: OpenExport) -> _Schemas:
    """The numbers of each schema of a domain, in order; what two processes have at two places is not among them."""
    found: defaultdict[tuple[int, int], dict[int, set[_Entry]]] = defaultdict(lambda: defaultdict(set))
    columns = ("domainId", "schemaId", "idx", "type", "flags", "name", "offset")
    for domain_id, schema_id, index, kind, flags, name, offset in export.rows(PAYLOAD_ENTRIES, *columns):
        stored_as, is_plain = _FORMATS.get(integer(kind) or 0), not integer(flags)
        nested = integer(kind) if (integer(kind) or 0) >= _FIRST_SCHEMA else None
        # the first entry lies at 0, which nsys writes as NULL
        is_placed = isinstance(offset, int) or index == 0
        if isinstance(domain_id, int) and isinstance(schema_id, int) and isinstance(index, int):
            usable = (stored_as is not None or nested is not None) and is_plain and is_placed and name
            told = _Entry(text(name) or "", integer(offset) or 0, stored_as or "", nested)
            entry = told if usable else _Entry("", 0, "")
            found[domain_id, schema_id][index].add(entry)
    return _flattened({key: tuple(_agreed(entries)) for key, entries in found.items()})


def _flattened(schemas: _Schemas) -> _Schemas:
    """Each schema with the numbers of those nested in it, under whole names (``lr.warmup``) and at their places."""
    flat: _Schemas = {
        key: tuple(entry for entry in entries if entry.nested is None) for key, entries in schemas.items()
    }
    if not any(entry.nested is not None for entries in schemas.values() for entry in entries):
        return flat
    for _ in range(_DEEPEST):
        flat = {
            key: tuple(
                islice(chain.from_iterable(_numbers_of(entry, flat, key[0]) for entry in entries), _MOST_NUMBERS)
            )
            for key, entries in schemas.items()
        }
    return flat


def _numbers_of(entry: _Entry, flat: _Schemas, domain_id: int) -> Iterator[_Entry]:
    if entry.nested is None:
        yield entry
        return
    for inner in flat.get((domain_id, entry.nested), ()):
        yield _Entry(f"{entry.name}.{inner.name}"[:_LONGEST_NAME], entry.offset + inner.offset, inner.stored_as)


def _agreed(entries: Mapping[int, set[_Entry]]) -> Iterator[_Entry]:
    for index in sorted(entries):
        (entry, *others) = entries[index]
        if entry.name and not others:
            yield entry


def _written(blob: Value, schemas: _Schemas) -> str:
    """``Message size [bytes] 4096, Root 0``; no text of what is cut off or of an unknown schema."""
    if not isinstance(blob, bytes) or len(blob) < _HEADER.size:
        return ""
    domain_id, _, schema_id, _, size, _ = _HEADER.unpack_from(blob)
    payload = blob[_HEADER.size : _HEADER.size + size]
    if len(payload) < size:
        return ""
    numbers = ((entry.name, _number(payload, entry)) for entry in schemas.get((domain_id, schema_id), ()))
    return ", ".join(f"{name} {number}" for name, number in numbers if number)


def _number(payload: bytes, entry: _Entry) -> str:
    layout = struct.Struct(f"<{entry.stored_as}")
    if not 0 <= entry.offset <= len(payload) - layout.size:
        return ""
    (number,) = layout.unpack_from(payload, entry.offset)
    return str(np.float32(number)) if entry.stored_as in "ef" else str(number)
