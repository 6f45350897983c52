"""A trace whose GPU work is taken up slice by slice and is nowhere as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import replace

from nsysan.ingest.blocks import WholeNeededError
from nsysan.ingest.nsys.names import Names
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.work_slices import Slice, most_rows, work_slices, work_streams
from nsysan.ingest.reader import ReadOptions
from nsysan.model.distinct import distinct
from nsysan.model.tables import Kernels
from nsysan.model.trace import Trace


def fold_work(export: OpenExport, shift_ns: int | None, options: ReadOptions, bare: Trace) -> Trace | None:
    """The trace, ``bare`` but for its work, whose tables are empty after ``options.fold`` has taken up what they hold.

    None where it must be read as a whole: the exporter states no shift of times, so that all of them must be known to
    take it off; rows lie far from the order of time; or whoever wants it wants more.
    """
    streams = None if shift_ns is None else work_streams(export, shift_ns)
    if options.fold is None or streams is None or "kernels" not in streams:
        return None
    names = _GrowingNames(export)
    try:
        slices = (replace(bare, **names.renamed(work)) for work in work_slices(streams, options.progress))
        if not options.fold.fold(slices, most_rows(streams.values())):
            return None
    except WholeNeededError:
        return None
    for stream in streams.values():
        export.unreadable_records[stream.table] = stream.blocks.unreadable_count()
    nothing = {name: stream.nothing() for name, stream in streams.items()}
    return replace(
        bare,
        **names.renamed(nothing),
        ambiguous_name_count=names.ambiguous_count,
        unreadable_records=export.left_out(),
        unreadable_work=export.left_out_work(),
    )


class _GrowingNames:
    """The names of the kernels that were met so far."""

    def __init__(self, export: OpenExport) -> None:
        self._export = export
        self._ids: set[int] = set()
        self._names = self._of_all()

    @property
    def ambiguous_count(self) -> int:
        """How many ids stand for several texts."""
        return self._names.ambiguous_count

    def renamed(self, work: Slice) -> dict[str, Any]:
        """The fields of the trace that has this work."""
        kernels = work["kernels"]
        assert isinstance(kernels, Kernels)
        if not self._ids.issuperset(ids := distinct(kernels.name_id).tolist()):
            self._ids.update(ids)
            self._names = self._of_all()
        named = kernels if self._names.keeps(ids) else self._names.renamed(kernels)
        return {**work, "kernels": named, "strings": self._names.strings}

    def _of_all(self) -> Names:
        return Names(self._export, np.array(sorted(self._ids), np.int64))
