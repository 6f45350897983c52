"""How long each rank waited in an instance and how long the transfer took, from begins and ends alone.

| instance | a rank's transfer begins with | transfer of the instance |
|---|---|---|
| symmetric, messages between two | its end less the transfer | the shortest duration over its ranks |
| broadcast, scatter | the later of its own and the root's arrival | the longest of any rank |
| reduce, gather | on the root the last arrival; the others wait for nobody that is known | the root's |

What lies before is waiting. Nothing is below 0.
"""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.collectives.kinds import Meeting
from nsysan.model.arrays import Int64Array


class Waits(msgspec.Struct, frozen=True, eq=False):
    """``transfer_ns`` by instance; ``wait_ns`` by instance (row) and rank (column), the begin of its duration.

    ``awaited`` is the column that all others of an instance waited for; None where that is whoever waited least.
    """

    transfer_ns: Int64Array
    wait_ns: Int64Array
    awaited: Int64Array | None = None


def waits_of(meeting: Meeting, start_ns: Int64Array, end_ns: Int64Array, root: Int64Array) -> Waits:
    """The waits of complete instances; ``start_ns`` and ``end_ns`` by instance and rank, ``root`` a column of each.

    Of broadcasts, scatters, reduces and gathers all times are on one clock; of symmetric ones durations alone count.
    Raises ValueError where who needs whom is not known.
    """
    durations_ns = end_ns - start_ns
    if meeting is Meeting.SYMMETRIC:
        transfer_ns = durations_ns.min(axis=1)
        return Waits(transfer_ns, durations_ns - transfer_ns[:, None])
    rows = np.arange(len(start_ns))
    if meeting is Meeting.FROM_ROOT:
        ready_ns = np.maximum(start_ns, start_ns[rows, root][:, None])
        transfers_ns = (end_ns - ready_ns).clip(min=0)
        return Waits(transfers_ns.max(axis=1, initial=0), durations_ns - transfers_ns, root)
    if meeting is Meeting.TO_ROOT:
        transfer_ns = (end_ns[rows, root] - start_ns.max(axis=1, initial=np.iinfo(np.int64).min)).clip(min=0)
        wait_ns = np.zeros_like(durations_ns)
        wait_ns[rows, root] = durations_ns[rows, root] - transfer_ns
        return Waits(transfer_ns, wait_ns, start_ns.argmax(axis=1))
    raise ValueError("who needs whom is not known")
