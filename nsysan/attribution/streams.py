"""Which stream each piece of GPU work ran on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.attribution.grouping import codes_of
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.columns import taken
from nsysan.model.distinct import distinct, first_rows
from nsysan.model.trace import Trace

Traces = Sequence[Trace] | Mapping[int, Trace]
"""The traces by report."""


class Streams(msgspec.Struct, frozen=True, eq=False):
    """``codes`` has a number for each activity, equal where the streams are, in order of ``identities``.

    These have a row a stream: its process, context and number.
    """

    codes: IdArray
    identities: Int64Array


def streams_of_work(traces: Traces, activities: Activities) -> Streams:
    """The streams of these activities."""
    codes, pieces = np.zeros(len(activities), np.int32), list(_pieces(traces, activities))
    everything = np.concatenate([np.empty((0, 3), np.int64), *(own.identities for _, own in pieces)])
    identities, place_of = np.unique(everything, axis=0, return_inverse=True)
    begin = 0
    for places, own in pieces:
        codes[places] = place_of.ravel()[begin : begin + len(own.identities)].astype(np.int32)[own.codes]
        begin += len(own.identities)
    return Streams(codes, identities)


def _pieces(traces: Traces, activities: Activities) -> Iterator[tuple[Int64Array, Streams]]:
    """The activities of each table of each report, as their places and their streams."""
    for report in distinct(activities.report).tolist():
        tables = traces[report].gpu_tables()
        for name in (name for name in SOURCES if name in tables):
            places = np.flatnonzero(activities.are_of(name) & (activities.report == report))
            if len(places):
                table, rows = tables[name], activities.row[places]
                columns = [taken(column, rows) for column in (table.global_pid, table.context_id, table.stream_id)]
                codes = codes_of(*columns)
                firsts = first_rows(codes)
                identities = np.stack([column[firsts] for column in columns], axis=1, dtype=np.int64)
                yield places, Streams(codes, identities)
