"""The data types of NCCL, by their numbers in ``ncclDataType_t``."""

from __future__ import annotations

NCCL_TYPES = (
    ("int8", 1),
    ("uint8", 1),
    ("int32", 4),
    ("uint32", 4),
    ("int64", 8),
    ("uint64", 8),
    ("float16", 2),
    ("float32", 4),
    ("float64", 8),
    ("bfloat16", 2),
    ("float8_e4m3", 1),
    ("float8_e5m2", 1),
)
"""What each is called, and how many bytes an element has."""
_OTHER_NAMES = {"char": 0, "int": 2, "half": 6, "float": 7, "double": 8, "float8e4m3": 10, "float8e5m2": 11}
_NUMBERS = {name: number for number, (name, _) in enumerate(NCCL_TYPES)} | _OTHER_NAMES


def nccl_type(written: str) -> int | None:
    """The number of a type by any of its names (``ncclBfloat16``, ``float32``) or by itself; None for no type."""
    name = written.strip().lower().removeprefix("nccl")
    if name.isdecimal():
        return int(name) if int(name) < len(NCCL_TYPES) else None
    return _NUMBERS.get(name)
