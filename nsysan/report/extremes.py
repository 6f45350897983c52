"""Who has most or least of something: no one of several alike is named as if it stood out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import msgspec

from nsysan.analysis.gpu_time import GpuTimes, Spread
from nsysan.model.units import counted, format_count, format_fraction
from nsysan.report.prose import listed

_NAMED_COUNT = 2
Entry = TypeVar("Entry")


class Extreme(msgspec.Struct, frozen=True):
    """The GPUs that stand out alike: ``gpu1``, ``gpu0 and gpu2``, ``3 of the 4 GPUs``; and the share each shows."""

    gpus: str
    share: str


def alike(chosen: Entry, entries: Iterable[Entry], shown: Callable[[Entry], object]) -> tuple[Entry, ...]:
    """Those of the entries that show the same as the chosen one, itself included."""
    return tuple(entry for entry in entries if shown(entry) == shown(chosen))


def extreme_of(spread: Spread, gpus: Sequence[GpuTimes], share: Callable[[GpuTimes], float | None]) -> Extreme:
    """The worst GPU of a spread, with all whose share is printed the same."""
    shown = format_fraction(spread.worst_frac)
    shares = ((gpu.id, share(gpu)) for gpu in gpus)
    ids = [gpu for gpu, value in shares if value is not None and format_fraction(value) == shown]
    if len(ids) <= 1:
        return Extreme(spread.worst_gpu, shown)
    named = listed(ids) if len(ids) <= _NAMED_COUNT else f"{format_count(len(ids))} of the {counted(len(gpus), 'GPU')}"
    return Extreme(named, f"{shown} each")


def one_of_those(count: int, clause: str) -> str:
    """``clause``, which tells of the one that was named, or of how many it is one: ``one of 3 whose step ...``."""
    return clause if count == 1 else f"one of {format_count(count)} {clause}"
