"""Windows that one gap nearly fills: a piece of work hours before or after the rest stretches them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.attribution.devices import Gpu
from nsysan.attribution.job_sums import JobSums
from nsysan.attribution.work_sums import WorkSums
from nsysan.model.run import Note
from nsysan.model.thresholds import HOLLOW_FRAC
from nsysan.model.units import counted, format_duration, format_fraction


def hollow_window_notes(gpus: Sequence[Gpu], sums: JobSums) -> Iterator[Note]:
    """A note on the GPU whose window one gap fills most, where there is any."""
    of_gpus = [sums.of_gpu(gpu) for gpu in gpus]
    # work of no length leaves a window of none
    fracs = [of_gpu.gaps.longest_ns / max(of_gpu.state_times.window_ns, 1) for of_gpu in of_gpus]
    hollow = [place for place, frac in enumerate(fracs) if frac >= HOLLOW_FRAC]
    if not hollow:
        return
    worst = max(hollow, key=lambda place: fracs[place])
    others = f" (and {counted(len(hollow) - 1, 'other GPU')} like it)" if len(hollow) > 1 else ""
    longest = format_duration(of_gpus[worst].gaps.longest_ns)
    yield Note(
        "hollow_window",
        f"One gap of {longest} is {format_fraction(fracs[worst])} of {gpus[worst].id}'s "
        f"window{others}: {_side(of_gpus[worst])}. Shares of the window say little of the rest: choose a window with "
        "--from and --to.",
    )


def _side(sums: WorkSums) -> str:
    """How much work lies on the side of the longest gap that has less of it."""
    before = sums.gaps.largest[0].begun_before_count
    after = sums.work_count - before
    count, side = (before, "before") if before < after else (after, "after")
    return f"{counted(count, 'piece')} of work {'lies' if count == 1 else 'lie'} {side} it"
