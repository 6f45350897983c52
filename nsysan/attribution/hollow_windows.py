"""Windows that one gap nearly fills: a piece of work hours before or after the rest stretches them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from nsysan.model.run import Note
from nsysan.model.thresholds import HOLLOW_FRAC
from nsysan.model.units import counted, format_duration, format_fraction

if TYPE_CHECKING:
    from nsysan.attribution.job import Gpu


def hollow_window_notes(gpus: Sequence[Gpu]) -> Iterator[Note]:
    """A note on the GPU whose window one gap fills most, where there is any."""
    gaps_ns = [int(gpu.occupancy.idle().durations_ns.max(initial=0)) for gpu in gpus]
    # work of no length leaves a window of none
    fracs = [gap_ns / max(gpu.window_ns[1] - gpu.window_ns[0], 1) for gap_ns, gpu in zip(gaps_ns, gpus, strict=True)]
    hollow = [place for place, frac in enumerate(fracs) if frac >= HOLLOW_FRAC]
    if not hollow:
        return
    worst = max(hollow, key=lambda place: fracs[place])
    others = f" (and {counted(len(hollow) - 1, 'other GPU')} like it)" if len(hollow) > 1 else ""
    yield Note(
        "hollow_window",
        f"One gap of {format_duration(gaps_ns[worst])} is {format_fraction(fracs[worst])} of {gpus[worst].id}'s "
        f"window{others}: {_side(gpus[worst])}. Shares of the window say little of the rest: choose a window with "
        "--from and --to.",
    )


def _side(gpu: Gpu) -> str:
    """How much work lies on the side of the longest gap that has less of it."""
    gaps = gpu.occupancy.idle()
    begin_ns = int(gaps.start_ns[int(gaps.durations_ns.argmax())])
    before = int(np.count_nonzero(gpu.activities.start_ns < begin_ns))
    after = len(gpu.activities) - before
    count, side = (before, "before") if before < after else (after, "after")
    return f"{counted(count, 'piece')} of work {'lies' if count == 1 else 'lie'} {side} it"
