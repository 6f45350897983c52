"""What a collective could reach, as far as somebody tells: the place where ceilings are put in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from nsysan.model.kernels import Collective


@dataclass(frozen=True, slots=True)
class CollectiveCeiling:
    """The bus bandwidth that was reached elsewhere with the like of it, and where that figure comes from."""

    busbw_bytes_per_s: float
    source: str


CeilingOf: TypeAlias = Callable[[Collective, int, int, int | None], CollectiveCeiling | None]
"""The ceiling of a kind at S bytes of nccl-tests, over so many ranks on so many hosts (None: not known); None for none.

Never the largest of a table, which a small message cannot reach.
"""


def no_ceiling(
    _kind: Collective, _size_bytes: int, _rank_count: int, _node_count: int | None
) -> CollectiveCeiling | None:
    """Where nobody tells any."""
    return None
