"""Chains of elementwise kernels: different ones in a row on a stream, over as many elements, that could be one."""

from __future__ import annotations

import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.kernels_of_class import are_of_class
from nsysan.attribution.streams import streams_of_work
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.kernels import KernelClass
from nsysan.model.partition import Activity
from nsysan.model.tables import Table
from nsysan.model.trace import Trace
from nsysan.timeline.ordering import order_of


class Chains(Table, frozen=True):
    """A row a chain, in order of stream and begin: how many kernels, what they take, and the longest of them."""

    start_ns: Int64Array
    end_ns: Int64Array
    kernel_count: Int64Array
    total_ns: Int64Array
    longest_ns: Int64Array


def chains_of(activities: Activities, trace: Trace) -> Chains:
    """The chains among one device's activities; none where the grids of kernels are not told.

    In a chain each kernel is elementwise, has the grid and block of the one before it on its stream, and another name:
    the same kernel again and again does not go on with what it wrote, but does the same to other arrays.
    """
    if trace.kernels is None or trace.kernel_dimensions is None or not len(activities):
        return _NO_CHAINS
    stream = streams_of_work({int(activities.report[0]): trace}, activities).codes
    order = order_of(stream, activities.start_ns, activities.end_ns)
    ordered, stream = activities.take(order), stream[order]
    fuses, work, name = _kernels(ordered, trace)
    follows = fuses[1:] & fuses[:-1] & (np.diff(stream) == 0) & (np.diff(work) == 0) & (np.diff(name) != 0)
    begins = np.flatnonzero(np.append(follows, [False]) & ~np.concatenate([[False], follows]))
    ends = np.flatnonzero(np.concatenate([[False], follows]) & ~np.append(follows, [False]))
    if not len(begins):
        return _NO_CHAINS
    durations_ns = ordered.end_ns - ordered.start_ns
    edges = np.stack([begins, ends + 1], axis=1).ravel()
    # of what lies between two edges every second stretch is a chain; the last edge may be the end of all
    longest_ns = np.maximum.reduceat(np.append(durations_ns, [0]), edges)[::2]
    totals_ns = np.add.reduceat(np.append(durations_ns, [0]), edges)[::2]
    return Chains(ordered.start_ns[begins], ordered.end_ns[ends], ends + 1 - begins, totals_ns, longest_ns)


_NO_CHAINS = Chains(*[np.empty(0, np.int64)] * len(Chains.__struct_fields__))


def _kernels(activities: Activities, trace: Trace) -> tuple[BoolArray, Int64Array, Int64Array]:
    """Of each activity whether it is an elementwise kernel; and of those a number for grid and block, and the name."""
    assert trace.kernels is not None, "it was asked for"
    assert trace.kernel_dimensions is not None, "it was asked for"
    places = np.flatnonzero(activities.are_of("kernels") & (activities.kind == int(Activity.COMPUTE)))
    rows = activities.row[places]
    name_ids = trace.kernels.name_id[rows]
    elementwise = are_of_class(trace, name_ids, KernelClass.ELEMENTWISE)
    places, rows, name_ids = places[elementwise], rows[elementwise], name_ids[elementwise]
    fuses = np.zeros(len(activities), np.bool_)
    work, name = np.zeros(len(activities), np.int64), np.zeros(len(activities), np.int64)
    fuses[places], name[places] = True, name_ids
    if len(places):
        work[places] = codes_of(*(column[rows] for column in trace.kernel_dimensions.columns().values()))
    return fuses, work, name
