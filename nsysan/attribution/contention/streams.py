"""The streams of one device: which its work ran on, which computes, and what communicates on that."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.activities import SOURCES, Activities
from nsysan.attribution.grouping import codes_of
from nsysan.model.arrays import IdArray
from nsysan.model.partition import Activity
from nsysan.model.tables import ABSENT
from nsysan.model.trace import Trace


class SharedStream(msgspec.Struct, frozen=True):
    """Communication kernels on the stream that computes most, of all there are; times are sums of lengths."""

    count: int
    total_ns: int
    all_count: int
    all_ns: int


def stream_codes(activities: Activities, trace: Trace) -> IdArray:
    """A number for the stream of each activity of one device, equal where the streams are."""
    context_ids, stream_ids = (np.full(len(activities), ABSENT) for _ in range(2))
    tables = trace.gpu_tables()
    for source, name in enumerate(SOURCES):
        if name in tables:
            places = np.flatnonzero(activities.source == source)
            context_ids[places] = tables[name].context_id[activities.row[places]]
            stream_ids[places] = tables[name].stream_id[activities.row[places]]
    return codes_of(context_ids, stream_ids)


def communication_on_compute_stream(activities: Activities, trace: Trace, window_ns: tuple[int, int]) -> SharedStream:
    """What of the communication kernels that begin in the window runs on the stream with the most computing time."""
    first_ns, last_ns = window_ns
    inside = (activities.start_ns >= first_ns) & (activities.start_ns < last_ns)
    kernels = activities.take(inside & activities.are_of("kernels"))
    stream, durations_ns = stream_codes(kernels, trace), kernels.end_ns - kernels.start_ns
    computes = kernels.kind == int(Activity.COMPUTE)
    communicates = kernels.kind == int(Activity.COMMUNICATION)
    if not computes.any():
        shared = np.zeros(len(kernels), np.bool_)
    else:
        times_ns = np.zeros(int(stream.max()) + 1, np.int64)
        np.add.at(times_ns, stream[computes], durations_ns[computes])
        shared = communicates & (stream == times_ns.argmax())
    all_ns = int(durations_ns[communicates].sum())
    return SharedStream(int(shared.sum()), int(durations_ns[shared].sum()), int(communicates.sum()), all_ns)
