"""How NCCL's payloads lie in memory, by schema and size, where no schema tables stand beside them.

The numbers of the schemas have been the same since NCCL 2.16. From 2.25 on most begin with the communicator: the size
of a payload tells the two layouts apart. Both are those of 64-bit machines.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

_FIRST_ID = 1 << 24
_FORMATS = {"communicator_id": "Q", "parent": "Q", "size_bytes": "Q"}
"""Entries that are not of 32 bits."""
_MESSAGE = ("size_bytes",)
_ON_COMMUNICATOR = ("communicator_id", "size_bytes")
_MAKING = ("communicator_id", "rank_count", "rank", "device_id")
_LAYOUTS: Mapping[int, tuple[tuple[str, ...], ...]] = {
    0: (_MAKING, ("rank", "rank_count", "device_id")),
    4: (_ON_COMMUNICATOR, _MESSAGE),
    5: ((*_ON_COMMUNICATOR, "operation"), (*_MESSAGE, "operation")),
    6: ((*_ON_COMMUNICATOR, "root"), (*_MESSAGE, "root")),
    7: ((*_ON_COMMUNICATOR, "operation"), (*_MESSAGE, "operation")),
    8: ((*_ON_COMMUNICATOR, "root", "operation"), (*_MESSAGE, "root", "operation")),
    9: ((*_ON_COMMUNICATOR, "peer"), (*_MESSAGE, "peer")),
    10: ((*_ON_COMMUNICATOR, "peer"), (*_MESSAGE, "peer")),
    11: (_MAKING,),
    12: (_MAKING,),
    13: (("communicator_id", "parent", "rank_count", "rank", "device_id", "color", "key"),),
    15: ((*_MAKING, "excluded_count"),),
    16: (_ON_COMMUNICATOR,),
    17: ((*_ON_COMMUNICATOR, "root"),),
    18: ((*_ON_COMMUNICATOR, "root"),),
}
"""The entries of each schema, by its number, in the newer and the older layout."""
_KEPT = ("communicator_id", "size_bytes", "root", "peer", "rank", "rank_count", "device_id")


def entries_of(schema_id: int, payload: bytes) -> dict[str, int]:
    """The known entries of a payload; none where the schema is not known or has no layout of that size."""
    for names, layout in _layouts(schema_id - _FIRST_ID):
        if layout.size == len(payload):
            told = dict(zip(names, layout.unpack(payload), strict=True))
            return {name: told[name] for name in _KEPT if name in told}
    return {}


def _layouts(number: int) -> Iterator[tuple[tuple[str, ...], struct.Struct]]:
    for names in _LAYOUTS.get(number, ()):
        fields = "<" + "".join(_FORMATS.get(name, "i") for name in names)
        widest = max(struct.calcsize(_FORMATS.get(name, "i")) for name in names)
        yield names, struct.Struct(f"{fields}{-struct.calcsize(fields) % widest}x")
