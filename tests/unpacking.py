"""What ``run.json`` packs, read as docs/run-json.md describes it: number by number."""

from __future__ import annotations

import base64
from collections.abc import Iterator

from nsysan.analysis.lanes.lane import COLUMNS, Lane

Piece = tuple[int, int, dict[str, int]]
"""Begin, end, and the time of each column that has some."""


def unpack(packed: str) -> list[int]:
    """The numbers: seven bits a byte, the lowest first, the highest bit saying that more follow."""
    numbers, number, shift = [], 0, 0
    for byte in base64.b64decode(packed, validate=True):
        number |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            numbers.append(number)
            number, shift = 0, 0
    assert shift == 0
    return numbers


def grouped(packed: str, size: int) -> list[tuple[int, ...]]:
    """The numbers in groups of ``size``."""
    return list(zip(*[iter(unpack(packed))] * size, strict=True))


def pieces_of(lane: Lane) -> Iterator[Piece]:
    """The pieces of a lane, which must be as many as it says."""
    numbers = iter(unpack(lane.pieces))
    start_ns = lane.start_ns
    for _ in range(lane.piece_count):
        length_ns, mask = next(numbers), next(numbers)
        present = [column for bit, column in enumerate(COLUMNS) if mask >> bit & 1]
        shares = {column: next(numbers) for column in present[:-1]}
        shares[present[-1]] = length_ns * lane.gpu_count - sum(shares.values())
        yield start_ns, start_ns + length_ns, shares
        start_ns += length_ns
    assert next(numbers, None) is None
