"""One kind of records out of an export, whatever the release calls its table."""

from __future__ import annotations

import numpy as np

from nsysan.ingest.columns import Column, Scope
from nsysan.ingest.nsys import tables
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import RecordTable
from nsysan.model.arrays import IdArray
from nsysan.model.columns import taken, without_rows
from nsysan.model.tables import AnyTable, KernelDimensions, Kernels, KernelShapes


def read_table(export: OpenExport, kind: RecordTable[AnyTable], scope: Scope | None = None) -> AnyTable | None:
    """The records of a kind, of ``scope`` where it is given; None where the export has none that can be read."""
    arrays = _read_columns(export, kind.names, kind.columns, scope or kind.scope)
    return None if arrays is None else kind.record(**arrays)


def read_apart(export: OpenExport, kind: RecordTable[AnyTable], few: Scope) -> tuple[AnyTable | None, AnyTable | None]:
    """The records of a kind without those of ``few``, which are expected to be few, and these; None as above."""
    arrays = _read_columns(export, kind.names, kind.columns, kind.scope)
    if arrays is None:
        return None, None
    telling = next(column.name for column in kind.columns if few.column in column.sources)
    is_one = np.logical_or.reduce([arrays[telling] == value for value in few.values])
    rows = np.flatnonzero(is_one)
    taken_apart = kind.record(**{name: taken(column, rows) for name, column in arrays.items()})
    if len(rows):
        # nobody else has seen these arrays; what is replaced is let go of
        arrays = {name: without_rows(arrays.pop(name), rows) for name in list(arrays)}
    return kind.record(**arrays), taken_apart


def read_kernels(
    export: OpenExport, *, with_shapes: bool
) -> tuple[Kernels | None, KernelShapes | None, KernelDimensions | None]:
    """The kernels and, row by row, their shapes and dimensions, which are None unless asked for and recorded."""
    more = (*tables.KERNEL_SHAPE, *tables.KERNEL_GRID) if with_shapes else ()
    arrays = _read_columns(export, tables.KERNELS.names, (*tables.KERNELS.columns, *more), None)
    if arrays is None:
        return None, None, None
    kernels = _of_fields(Kernels, arrays)
    if not more:
        return kernels, None, None
    return kernels, _of_fields(KernelShapes, arrays), _of_fields(KernelDimensions, arrays)


def _of_fields(record: type[AnyTable], arrays: dict[str, IdArray]) -> AnyTable:
    return record(**{name: arrays[name] for name in record.__struct_fields__})


def _read_columns(
    export: OpenExport, names: tuple[str, ...], columns: tuple[Column, ...], scope: Scope | None
) -> dict[str, IdArray] | None:
    table = export.table(names)
    if table is None:
        return None
    read = export.source.read_columns(table, columns, scope)
    # two kinds may lie in one table, and both miss the rows that could be either
    export.unreadable_records[table.name] = max(export.unreadable_records[table.name], read.unreadable_count)
    return None if read.arrays is None else dict(read.arrays)
