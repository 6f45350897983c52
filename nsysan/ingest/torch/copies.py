"""What a copy's name says: from which kind of memory to which."""

from __future__ import annotations

import re
from functools import lru_cache

from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.model.tables import ABSENT

_NAME = re.compile(r"Memcpy (?P<kind>\w*) ?\((?P<source>[^()]+) -> (?P<target>[^()]+)\)")
_KINDS = {
    "HtoD": CopyKind.HOST_TO_DEVICE,
    "DtoH": CopyKind.DEVICE_TO_HOST,
    "HtoA": CopyKind.HOST_TO_ARRAY,
    "AtoH": CopyKind.ARRAY_TO_HOST,
    "AtoA": CopyKind.ARRAY_TO_ARRAY,
    "AtoD": CopyKind.ARRAY_TO_DEVICE,
    "DtoA": CopyKind.DEVICE_TO_ARRAY,
    "DtoD": CopyKind.DEVICE_TO_DEVICE,
    "HtoH": CopyKind.HOST_TO_HOST,
    "PtoP": CopyKind.PEER_TO_PEER,
}


@lru_cache(maxsize=256)
def copy_kinds(name: str) -> tuple[int, int, int]:
    """Copy kind and the memory kinds of source and target of a copy called "Memcpy HtoD (Pageable -> Device)"."""
    match = _NAME.fullmatch(name)
    if match is None:
        return ABSENT, ABSENT, ABSENT
    return _KINDS.get(match["kind"], ABSENT), _memory_kind(match["source"]), _memory_kind(match["target"])


def _memory_kind(name: str) -> int:
    member = MemoryKind.__members__.get(name.upper().replace(" ", "_"))
    return ABSENT if member is None else int(member)
