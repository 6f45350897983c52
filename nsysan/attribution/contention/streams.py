"""What communicates on the stream of a device that computes."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.activities import Activities
from nsysan.attribution.streams import Streams
from nsysan.model.distinct import summed
from nsysan.model.partition import Activity


class SharedStream(msgspec.Struct, frozen=True):
    """Communication kernels on the stream that computes most, of all there are; times are sums of lengths."""

    count: int
    total_ns: int
    all_count: int
    all_ns: int


def communication_on_compute_stream(
    activities: Activities, streams: Streams, window_ns: tuple[int, int]
) -> SharedStream:
    """What of the communication kernels that begin in the window runs on the stream with the most computing time."""
    first_ns, last_ns = window_ns
    inside = (activities.start_ns >= first_ns) & (activities.start_ns < last_ns)
    rows = np.flatnonzero(inside & activities.are_of("kernels"))
    stream, durations_ns = streams.codes[rows], activities.end_ns[rows] - activities.start_ns[rows]
    kinds = activities.kind[rows]
    computes, communicates = kinds == int(Activity.COMPUTE), kinds == int(Activity.COMMUNICATION)
    if not computes.any():
        shared = np.zeros(len(rows), np.bool_)
    else:
        times_ns = summed(np.where(computes, durations_ns, 0), stream, len(streams.identities))
        shared = communicates & (stream == times_ns.argmax())
    all_ns = int(durations_ns[communicates].sum())
    return SharedStream(int(shared.sum()), int(durations_ns[shared].sum()), int(communicates.sum()), all_ns)
