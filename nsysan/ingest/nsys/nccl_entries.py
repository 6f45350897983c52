"""The entries of NCCL's payloads by their names, and the table they become."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from nsysan.model.arrays import Int64Array
from nsysan.model.tables import ABSENT, NcclPayloads
from nsysan.model.trace import IMPOSSIBLE_BYTES

ENTRY_COLUMNS = {
    "NCCL communicator ID": "communicator_id",
    "Message size [bytes]": "size_bytes",
    "Root": "root",
    "Peer rank": "peer",
    "Rank": "rank",
    "No. of ranks": "rank_count",
    "CUDA device": "device_id",
}
"""What NCCL calls the entries of its payloads, and the column that takes each."""
_FROM_TRACE = ("dtype", "sequence")
"""What only the advanced NCCL trace tells."""


def payload_table(start_ns: Int64Array, global_tid: Int64Array, columns: Mapping[str, Int64Array]) -> NcclPayloads:
    """The payloads of ranges that begin then on these threads; a column that is not given is unknown."""
    nothing = np.full(len(start_ns), ABSENT)
    known = {column: columns.get(column, nothing) for column in (*ENTRY_COLUMNS.values(), *_FROM_TRACE)}
    sizes = known["size_bytes"]
    known["size_bytes"] = np.where((sizes >= 0) & (sizes < IMPOSSIBLE_BYTES), sizes, ABSENT)
    return NcclPayloads(start_ns, global_tid, **known)
