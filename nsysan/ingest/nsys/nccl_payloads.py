"""What NCCL attached to its NVTX ranges: blobs, taken apart by the schemas beside them, or the same as JSON text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from nsysan.ingest.nsys.nccl_entries import ENTRY_COLUMNS, payload_table
from nsysan.ingest.nsys.nccl_json import payloads_in_json
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import NVTX_EVENTS, PAYLOAD_ENTRIES, STRINGS, DetailedRanges
from nsysan.ingest.source import Value, integer, text
from nsysan.model.arrays import Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.tables import ABSENT, NcclPayloads

_TYPES = {5: "<i4", 6: "<u4", 15: "<i4", 16: "<u4", 17: "<i8", 18: "<u8", 22: "<u8"}
"""How the types of nvToolsExtPayload.h that NCCL uses for these lie in memory on a 64-bit machine."""
_RANGE = ("start", "globalTid")

Bytes = npt.NDArray[np.uint8]


class _Place(msgspec.Struct, frozen=True):
    """Where a value lies in a payload, and as what."""

    offset: int
    stored_as: str


Schemas = Mapping[int, Mapping[str, _Place]]

_HEADER_BYTES = 32
_SCHEMA_AT, _SIZE_AT = _Place(8, "<u4"), _Place(16, "<u8")
"""Before each payload: domain, 0, schema, 0 as numbers of 32 bits, the sizes of payload and blob as such of 64."""


def read_nccl_payloads(export: OpenExport, *parts: DetailedRanges | None) -> NcclPayloads | None:
    """The payloads of NCCL's ranges, which are among the events in ``parts``; None where the export holds none.

    What is cut off, of another library or without its schema tells nothing.
    """
    table = export.table(NVTX_EVENTS.names)
    if table is None:
        return None
    schemas = _schemas(export)
    pieces: list[NcclPayloads] = []
    if schemas and export.source.used_columns(table, ["binaryData"]):
        pieces += _from_blobs(export.source.rows_with(table, "binaryData", (*_RANGE, "binaryData")), schemas)
    present = [events for events in parts if events is not None]
    bearing = [events.take((events.json_id != ABSENT) & (events.global_tid != ABSENT)) for events in present]
    if bearing:
        pieces += payloads_in_json(_with_texts(export, DetailedRanges.concatenate(bearing)))
    return NcclPayloads.concatenate(pieces) if pieces else None


def _schemas(export: OpenExport) -> Schemas:
    """Where each schema has its known entries; an entry that two processes have at two places is at none."""
    places: defaultdict[int, defaultdict[str, set[_Place]]] = defaultdict(lambda: defaultdict(set))
    for schema_id, kind, name, offset in export.rows(PAYLOAD_ENTRIES, "schemaId", "type", "name", "offset"):
        column, stored_as = ENTRY_COLUMNS.get(text(name) or ""), _TYPES.get(integer(kind) or 0)
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
        yield payload_table(start_ns[whole], global_tid[whole], columns)


def _numbers(blobs: Bytes, place: _Place) -> Int64Array:
    kind = np.dtype(place.stored_as)
    cut = np.ascontiguousarray(blobs[:, place.offset : place.offset + kind.itemsize])
    return cut.view(kind).reshape(-1).astype(np.int64)


def _with_texts(export: OpenExport, bearing: DetailedRanges) -> Iterator[tuple[Value, ...]]:
    """Begin, thread and JSON text of these."""
    texts = _texts(export, distinct(bearing.json_id).tolist())
    places = (bearing.start_ns.tolist(), bearing.global_tid.tolist(), bearing.json_id.tolist())
    return ((start_ns, global_tid, texts.get(json_id)) for start_ns, global_tid, json_id in zip(*places, strict=True))


def _texts(export: OpenExport, ids: Sequence[int]) -> Mapping[int, str]:
    """The texts behind ids, be they in records or in the table of strings."""
    inline, strings = export.source.inline_texts.strings(), export.tables.get(STRINGS)
    stored = [text_id for text_id in ids if text_id not in inline]
    if not stored or strings is None or not {"id", "value"} <= strings.columns:
        return inline
    return {**inline, **dict(export.source.texts(strings, stored))}
