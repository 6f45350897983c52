"""Whole numbers as text: LEB128 bytes in base64, so that thousands of them fit a page and ``run.json``.

A number is written seven bits at a time, the lowest first, and every byte but its last has the highest bit set.
"""

from __future__ import annotations

import base64

import numpy as np

from nsysan.model.arrays import Int64Array

_BITS = 7
_MOST_BYTES = 9  # 63 bits
_MORE = 0x80


def pack(numbers: Int64Array) -> str:
    """The numbers, none below 0, one after the other."""
    if len(numbers) and int(numbers.min()) < 0:
        raise ValueError("only numbers from 0 on can be packed")
    sizes = np.ones(len(numbers), dtype=np.int64)
    for byte in range(1, _MOST_BYTES):
        sizes += numbers >> (_BITS * byte) > 0
    ends = np.cumsum(sizes)
    packed = np.empty(int(sizes.sum()), dtype=np.uint8)
    for byte in range(int(sizes.max(initial=0))):
        long_enough = sizes > byte
        goes_on = np.where(sizes[long_enough] > byte + 1, _MORE, 0)
        packed[(ends - sizes)[long_enough] + byte] = numbers[long_enough] >> (_BITS * byte) & 0x7F | goes_on
    return base64.b64encode(packed.tobytes()).decode()


def unpack(packed: str) -> Int64Array:
    """The numbers behind the text. Raises ValueError where it is no such text, or a number is beyond 63 bits."""
    data = np.frombuffer(base64.b64decode(packed, validate=True), dtype=np.uint8)
    if not len(data):
        return np.empty(0, dtype=np.int64)
    if data[-1] >= _MORE:
        raise ValueError("the last number is cut off")
    ends = np.flatnonzero(data < _MORE) + 1
    begins = np.concatenate(([0], ends[:-1]))
    sizes = ends - begins
    if int(sizes.max()) > _MOST_BYTES:
        raise ValueError("a number is beyond 63 bits")
    places = np.arange(len(data)) - np.repeat(begins, sizes)
    digits = (data & (_MORE - 1)).astype(np.int64) << (_BITS * places)
    return np.add.reduceat(digits, begins)
