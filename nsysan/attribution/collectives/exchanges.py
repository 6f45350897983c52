"""All-to-alls made of messages, and how evenly they share the bytes out."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.collectives.kinds import KINDS, SEND_RECV
from nsysan.attribution.collectives.operations import Operations
from nsysan.attribution.collectives.series import Series
from nsysan.model.arrays import Int64Array
from nsysan.model.kernels import Collective
from nsysan.model.tables import ABSENT

_TWO = 2
_ALL_TO_ALL = KINDS.index(Collective.ALL_TO_ALL)


def is_among_all(series: Series, operations: Operations) -> bool:
    """Whether messages go from each rank to all, not from one to another.

    Between two ranks only an all-to-all holds what a rank sends to itself.
    """
    if series.kind != SEND_RECV or len(series.members) > _TWO:
        return series.kind == SEND_RECV
    messages = operations.message_count[series.table[series.table >= 0]]
    told = messages[messages > 0]
    return bool(len(told) and (told == 2 * len(series.members)).all())


def hands_out(series: Series, operations: Operations) -> bool:
    """Whether tokens may be handed out in it: in all-to-alls, and in messages from each rank to all."""
    return series.kind == _ALL_TO_ALL or is_among_all(series, operations)


class Skew(msgspec.Struct, frozen=True):
    """``ratio`` = bytes of the busiest rank / mean over ranks; ``column`` is the rank that is busiest over all."""

    ratio: float
    column: int


def skew_of(operations: Operations, table: Int64Array) -> Skew | None:
    """How uneven these instances are, by the larger of what a rank sends and receives; None where that is not told.

    Over several instances the sum of what the busiest of each moves over the sum of the means.
    """
    whole = table[(table >= 0).all(axis=1)]
    sent, received = operations.size_bytes[whole], operations.received_bytes[whole]
    whole_known = (sent != ABSENT).all(axis=1)
    sent, received = sent[whole_known], received[whole_known]
    if not sent.sum():
        return None
    # a rank that is not told what it receives has at least what it sends
    busy = np.maximum(sent, received)
    return Skew(float(busy.max(axis=1).sum() / sent.mean(axis=1).sum()), int(busy.sum(axis=0).argmax()))
