"""What NCCL attaches to its NVTX ranges, by the schemas of its release 2.28 and later, and how nsys stores it.

Sizes are those of the call's own arguments: the whole buffer of an all-reduce, broadcast and reduce, one rank's part of
an all-gather and reduce-scatter, what goes to one peer of an all-to-all, gather and scatter, one message of a send.
"""

from __future__ import annotations

import struct
from enum import Enum

import msgspec

_FIRST_STATIC_ID = 1 << 24
_INT, _UINT64, _SIZE = 5, 18, 22
REDUCTION_ENUM_ID = _FIRST_STATIC_ID + 24
REDUCTIONS = {"Sum": 0, "Product": 1, "Max": 2, "Min": 3, "Avg": 4}
REDUCTION_BYTES = 4
_BLOB_HEADER = struct.Struct("<IIIIQQ")
_WIDTHS = {_INT: "i", _UINT64: "Q", _SIZE: "Q", REDUCTION_ENUM_ID: "i"}

_COMMUNICATOR = (_UINT64, "NCCL communicator ID")
_MESSAGE = (_SIZE, "Message size [bytes]")
_ROOT = (_INT, "Root")
_PEER = (_INT, "Peer rank")
_REDUCTION = (REDUCTION_ENUM_ID, "Reduction operation")

_Entries = tuple[tuple[int, str], ...]


class PayloadSchema(Enum):
    """The structures NCCL registers, as static number and (type, name) per entry."""

    ALL_GATHER = (4, (_COMMUNICATOR, _MESSAGE))
    ALL_REDUCE = (5, (_COMMUNICATOR, _MESSAGE, _REDUCTION))
    BROADCAST = (6, (_COMMUNICATOR, _MESSAGE, _ROOT))
    REDUCE_SCATTER = (7, (_COMMUNICATOR, _MESSAGE, _REDUCTION))
    REDUCE = (8, (_COMMUNICATOR, _MESSAGE, _ROOT, _REDUCTION))
    SEND = (9, (_COMMUNICATOR, _MESSAGE, _PEER))
    RECV = (10, (_COMMUNICATOR, _MESSAGE, _PEER))
    COMM_INIT_RANK_CONFIG = (11, (_COMMUNICATOR, (_INT, "No. of ranks"), (_INT, "Rank"), (_INT, "CUDA device")))
    GATHER = (17, (_COMMUNICATOR, _MESSAGE, _ROOT))
    SCATTER = (18, (_COMMUNICATOR, _MESSAGE, _ROOT))

    def __init__(self, number: int, entries: _Entries) -> None:
        self.id = _FIRST_STATIC_ID + number
        self.entries = entries

    @property
    def offsets(self) -> tuple[int, ...]:
        """Where each entry lies in the structure; all lie where C aligns them without a gap between."""
        sizes = [struct.calcsize("<" + _WIDTHS[kind]) for kind, _ in self.entries]
        return tuple(sum(sizes[:index]) for index in range(len(sizes)))

    @property
    def layout(self) -> struct.Struct:
        """The structure, filled up to a multiple of its widest entry."""
        fields = "<" + "".join(_WIDTHS[kind] for kind, _ in self.entries)
        return struct.Struct(f"{fields}{-struct.calcsize(fields) % 8}x")


class Payload(msgspec.Struct, frozen=True):
    """A structure with its values, in the order of the schema's entries."""

    schema: PayloadSchema
    values: tuple[int, ...]

    def blob(self, domain_id: int) -> bytes:
        """The bytes that nsys writes into ``binaryData``: a header of 32, then the structure."""
        data = self.schema.layout.pack(*self.values)
        return _BLOB_HEADER.pack(domain_id, 0, self.schema.id, 0, len(data), _BLOB_HEADER.size + len(data)) + data
