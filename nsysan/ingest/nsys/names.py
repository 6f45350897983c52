"""The names of records: ids into the export's strings, or texts beside the record, made ids into one mapping.

Only strings that a record names are loaded, for the same table holds the environment of the profiled process.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

import numpy as np
from msgspec.structs import replace

from nsysan.ingest.columns import FIRST_INLINE_ID
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import STRINGS
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.coded import CodedColumn
from nsysan.model.columns import as_few_bytes, narrowed
from nsysan.model.distinct import Distinct
from nsysan.model.tables import AnyTable

_NAMING = ("name_id", "payload_id", "json_id")
"""The columns whose values are ids of strings."""


class Names:
    """The names that records use: ``strings`` by id, each text under one id, whatever the order of the records.

    ``ambiguous_count`` ids stand for several texts; the first of each counts.
    """

    def __init__(self, export: OpenExport, used_ids: Int64Array) -> None:
        inline = export.source.inline_texts.strings()
        stored_ids = [string_id for string_id in used_ids.tolist() if string_id not in inline]
        stored, self.ambiguous_count = _stored_strings(export, stored_ids)
        first_free = min(max(stored_ids, default=0) + 1, FIRST_INLINE_ID)
        self._new_ids = _one_id_per_text(stored, inline, max(first_free, 1))
        self.strings: Mapping[int, str] = {
            self._new_ids[string_id]: name for string_id, name in (stored | inline).items()
        }

    def renamed(self, table: AnyTable | None) -> AnyTable | None:
        """The table with its name ids as they are in ``strings``; an id that the export lost stays."""
        if table is None:
            return table
        naming = {name: column for name, column in table.columns().items() if name in _NAMING}
        return replace(table, **{name: self._renamed_ids(column) for name, column in naming.items()})

    def keeps(self, ids: Iterable[int]) -> bool:
        """Whether records with these ids need not be renamed."""
        return all(self._new_ids.get(string_id, string_id) == string_id for string_id in ids)

    def _renamed_ids(self, ids: IdArray) -> IdArray:
        if isinstance(ids, CodedColumn):
            return as_few_bytes(self._renamed_all(ids.values))[ids.places]
        used = Distinct.of(ids)
        new_ids = self._renamed_all(used.values)
        return ids if (new_ids == used.values).all() else narrowed("name_id", new_ids)[used.places(ids)]

    def _renamed_all(self, ids: Int64Array) -> Int64Array:
        return np.array([self._new_ids.get(old_id, old_id) for old_id in ids.tolist()], np.int64)


def _one_id_per_text(stored: dict[int, str], inline: dict[int, str], first_free: int) -> dict[int, int]:
    """For every id the one to use instead: the lowest stored id of its text, else a free id in order of text."""
    by_text: dict[str, int] = {}
    for string_id in sorted(stored):
        by_text.setdefault(stored[string_id], string_id)
    by_text |= dict(zip(sorted(set(inline.values()) - by_text.keys()), count(first_free), strict=False))
    return {string_id: by_text[name] for string_id, name in (stored | inline).items()}


def _stored_strings(export: OpenExport, ids: list[int]) -> tuple[dict[int, str], int]:
    """The first text of each id, and how many ids have another one too."""
    table = export.tables.get(STRINGS)
    if table is None or not {"id", "value"} <= table.columns:
        return {}, 0
    texts: dict[int, str] = {}
    ambiguous = set()
    for string_id, text in export.source.texts(table, ids):
        if texts.setdefault(string_id, text) != text:
            ambiguous.add(string_id)
    return texts, len(ambiguous)
