"""What NCCL attached to its NVTX ranges: blobs, taken apart by the schemas beside them, or the same as JSON text."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import NVTX_EVENTS, PAYLOAD_ENTRIES, STRINGS, DetailedRanges
from nsysan.ingest.source import Value, integer, text
from nsysan.model.distinct import coded, distinct
from nsysan.model.tables import ABSENT, Int64Array, NcclPayloads

_COLUMNS = {
    "NCCL communicator ID": "communicator_id",
    "Message size [bytes]": "size_bytes",
    "Root": "root",
    "Peer rank": "peer",
    "Rank": "rank",
    "No. of ranks": "rank_count",
    "CUDA device": "device_id",
}
"""What NCCL calls the entries of its payloads, and the column that takes each."""
_TYPES = {5: "<i4", 6: "<u4", 15: "<i4", 16: "<u4", 17: "<i8", 18: "<u8", 22: "<u8"}
"""How the types of nvToolsExtPayload.h that NCCL uses for these lie in memory on a 64-bit machine."""
_RANGE = ("start", "globalTid")
_LARGEST_BYTES = 1 << 44
"""No memory holds a message as large: such a size is damage."""
_DEEPEST_JSON = 4

Bytes = npt.NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value lies in a payload, and as what."""

    offset: int
    stored_as: str


Schemas = Mapping[int, Mapping[str, _Place]]

_HEADER_BYTES = 32
_SCHEMA_AT, _SIZE_AT = _Place(8, "<u4"), _Place(16, "<u8")
"""Before each payload: domain, 0, schema, 0 as numbers of 32 bits, the sizes of payload and blob as such of 64."""


def read_nccl_payloads(export: OpenExport, events: DetailedRanges | None) -> NcclPayloads | None:
    """The payloads of NCCL's ranges, which are among ``events``; None where the export holds none.

    What is cut off, of another library or without its schema tells nothing.
    """
    table = export.table(NVTX_EVENTS.names)
    if table is None:
        return None
    schemas = _schemas(export)
    pieces: list[NcclPayloads] = []
    if "binaryData" in table.columns and schemas:
        pieces += _from_blobs(export.source.rows_with(table, "binaryData", (*_RANGE, "binaryData")), schemas)
    if events is not None:
        pieces += _from_json(export, events.take((events.json_id != ABSENT) & (events.global_tid != ABSENT)))
    return NcclPayloads.concatenate(pieces) if pieces else None


def _schemas(export: OpenExport) -> Schemas:
    """Where each schema has its known entries; an entry that two processes have at two places is at none."""
    places: defaultdict[int, defaultdict[str, set[_Place]]] = defaultdict(lambda: defaultdict(set))
    for schema_id, kind, name, offset in export.rows(PAYLOAD_ENTRIES, "schemaId", "type", "name", "offset"):
        column, stored_as = _COLUMNS.get(text(name) or ""), _TYPES.get(integer(kind) or 0)
        if isinstance(schema_id, int) and column is not None and stored_as is not None:
            # a schema's first entry lies at 0, which nsys writes as NULL
            places[schema_id][column].add(_Place(integer(offset) or 0, stored_as))
    return {
        schema_id: {column: found.pop() for column, found in entries.items() if len(found) == 1}
        for schema_id, entries in places.items()
    }


def _from_blobs(rows: Iterator[tuple[Value, ...]], schemas: Schemas) -> Iterator[NcclPayloads]:
    """The payloads by length of blob, so that those of one schema lie under each other."""
    by_length: defaultdict[int, list[tuple[int, int, bytes]]] = defaultdict(list)
    for start_ns, global_tid, blob in rows:
        if isinstance(blob, bytes) and isinstance(start_ns, int) and isinstance(global_tid, int):
            by_length[len(blob)].append((start_ns, global_tid, blob))
    for length, found in by_length.items():
        if length > _HEADER_BYTES:
            starts, threads, blobs = zip(*found, strict=True)
            stacked = np.frombuffer(b"".join(blobs), np.uint8).reshape(-1, length)
            yield from _of_one_length(np.array(starts), np.array(threads), stacked, schemas)


def _of_one_length(
    start_ns: Int64Array, global_tid: Int64Array, blobs: Bytes, schemas: Schemas
) -> Iterator[NcclPayloads]:
    schema_ids, sizes = _numbers(blobs, _SCHEMA_AT), _numbers(blobs, _SIZE_AT)
    for schema_id in distinct(schema_ids).tolist():
        entries = schemas.get(schema_id)
        whole = (schema_ids == schema_id) & (sizes <= blobs.shape[1] - _HEADER_BYTES) & (sizes > 0)
        if not entries or not whole.any():
            continue
        room = int(sizes[whole].min())
        columns = {
            column: _numbers(blobs[whole, _HEADER_BYTES:], place)
            for column, place in entries.items()
            if 0 <= place.offset <= room - np.dtype(place.stored_as).itemsize
        }
        yield _payloads(start_ns[whole], global_tid[whole], columns)


def _numbers(blobs: Bytes, place: _Place) -> Int64Array:
    kind = np.dtype(place.stored_as)
    cut = np.ascontiguousarray(blobs[:, place.offset : place.offset + kind.itemsize])
    return cut.view(kind).reshape(-1).astype(np.int64)


def _from_json(export: OpenExport, bearing: DetailedRanges) -> Iterator[NcclPayloads]:
    """The payloads in the JSON texts of these: numbers, or digits, under NCCL's own names, however deep."""
    ids, text_of = coded(bearing.json_id)
    texts = _texts(export, ids.tolist())
    told = [_values_in(texts.get(json_id, "")) for json_id in ids.tolist()]
    telling = np.flatnonzero(np.array([bool(values) for values in told], np.bool_)[text_of])
    if len(telling):
        columns = {
            column: np.array([values.get(column, ABSENT) for values in told], np.int64)[text_of[telling]]
            for column in _COLUMNS.values()
        }
        yield _payloads(bearing.start_ns[telling], bearing.global_tid[telling], columns)


def _values_in(written: str) -> Mapping[str, int]:
    try:
        return dict(_known_values(json.loads(written), _DEEPEST_JSON))
    except (ValueError, RecursionError):
        return {}


def _known_values(value: object, depth: int) -> Iterator[tuple[str, int]]:
    for name, entry in value.items() if isinstance(value, dict) and depth else ():
        if name in _COLUMNS:
            try:
                number = int(entry, 0) if isinstance(entry, str) else int(entry)
            except (ValueError, TypeError):
                continue
            if -(1 << 63) < number < 1 << 64:
                # what NCCL counts without a sign keeps its bits
                yield _COLUMNS[name], number if number < 1 << 63 else number - (1 << 64)
        else:
            yield from _known_values(entry, depth - 1)


def _texts(export: OpenExport, ids: Sequence[int]) -> Mapping[int, str]:
    """The texts behind ids, be they in records or in the table of strings."""
    inline, strings = export.source.inline_texts.strings(), export.tables.get(STRINGS)
    stored = [text_id for text_id in ids if text_id not in inline]
    if not stored or strings is None or not {"id", "value"} <= strings.columns:
        return inline
    return {**inline, **dict(export.source.texts(strings, stored))}


def _payloads(start_ns: Int64Array, global_tid: Int64Array, columns: Mapping[str, Int64Array]) -> NcclPayloads:
    nothing = np.full(len(start_ns), ABSENT)
    known = {column: columns.get(column, nothing) for column in _COLUMNS.values()}
    sizes = known["size_bytes"]
    known["size_bytes"] = np.where((sizes >= 0) & (sizes < _LARGEST_BYTES), sizes, ABSENT)
    return NcclPayloads(start_ns, global_tid, **known)
