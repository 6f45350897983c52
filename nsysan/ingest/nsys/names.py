"""The names of records: ids into the export's strings, or texts beside the record, made ids into one mapping.

Only strings that a record names are loaded, for the same table holds the environment of the profiled process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from dataclasses import replace
from itertools import count
from typing import TypeVar

import numpy as np

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import STRINGS, NvtxDomains
from nsysan.ingest.sqlite.tables import text
from nsysan.model.tables import Int64Array, Kernels, NvtxRanges

FIRST_INLINE_ID = 1 << 62
"""Beyond any id that nsys gives."""

_IDS_PER_QUERY = 500

NamedTable = TypeVar("NamedTable", Kernels, NvtxRanges, NvtxDomains)


class InlineTexts:
    """Texts that stand in records themselves, each with an id of its own.

    Made before the records are read: it is the SQL function ``inline_text_id`` of the connection.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        (self._encoding,) = connection.execute("PRAGMA encoding").fetchone()
        self._ids: dict[str, int] = {}
        connection.create_function("inline_text_id", 1, self._id_of)

    def _id_of(self, stored: bytes) -> int:
        decoded = stored.decode(self._encoding, "replace")
        return self._ids.setdefault(decoded, FIRST_INLINE_ID + len(self._ids))

    def strings(self) -> dict[int, str]:
        """The texts by id."""
        return {text_id: inline_text for inline_text, text_id in self._ids.items()}


class Names:
    """The names that records use: ``strings`` by id, each text under one id, whatever the order of the records."""

    def __init__(self, export: OpenExport, inline_texts: InlineTexts, used_ids: Int64Array) -> None:
        inline = inline_texts.strings()
        stored = _stored_strings(export, [string_id for string_id in used_ids.tolist() if string_id not in inline])
        self._new_ids = _one_id_per_text(stored, inline)
        self.strings: Mapping[int, str] = {
            self._new_ids[string_id]: name for string_id, name in (stored | inline).items()
        }

    def renamed(self, table: NamedTable | None) -> NamedTable | None:
        """The table with its name ids as they are in ``strings``; an id that the export lost stays."""
        if table is None or not self._new_ids:
            return table
        old_ids = np.array(sorted(self._new_ids), np.int64)
        new_ids = np.array([self._new_ids[string_id] for string_id in old_ids.tolist()], np.int64)
        places = np.minimum(np.searchsorted(old_ids, table.name_id), len(old_ids) - 1)
        known = old_ids[places] == table.name_id
        return replace(table, name_id=np.where(known, new_ids[places], table.name_id))


def _one_id_per_text(stored: dict[int, str], inline: dict[int, str]) -> dict[int, int]:
    """For every id the one to use instead: the lowest stored id of its text, else an inline id in order of text."""
    by_text: dict[str, int] = {}
    for string_id in sorted(stored):
        by_text.setdefault(stored[string_id], string_id)
    by_text |= dict(zip(sorted(set(inline.values()) - by_text.keys()), count(FIRST_INLINE_ID), strict=False))
    return {string_id: by_text[name] for string_id, name in (stored | inline).items()}


def _stored_strings(export: OpenExport, ids: list[int]) -> dict[int, str]:
    table = export.tables.get(STRINGS)
    if table is None or not {"id", "value"} <= table.columns:
        return {}
    strings: dict[int, str] = {}
    for begin in range(0, len(ids), _IDS_PER_QUERY):
        wanted = ids[begin : begin + _IDS_PER_QUERY]
        query = f"SELECT id, value FROM {STRINGS} WHERE id IN ({', '.join('?' * len(wanted))})"  # noqa: S608 -- no text in it
        found = ((string_id, text(value)) for string_id, value in export.connection.execute(query, wanted))
        strings |= {string_id: name for string_id, name in found if name is not None}
    return strings
