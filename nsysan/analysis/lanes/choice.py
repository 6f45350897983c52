"""Which GPUs have a lane of their own where there are too many: those that a reader would look for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nsysan.analysis.idle_gaps import Gap
from nsysan.attribution.devices import Gpu
from nsysan.model.partition import COMPUTING_PARTS, Part

SHOWN_GPU_COUNT = 16
_MOST_BY_GAPS = 8
_COMPUTING = [part for part in Part if part in COMPUTING_PARTS]


def choose_gpus(gpus: Sequence[Gpu], gaps: Iterable[Gap], late: Sequence[str] = ()) -> tuple[Gpu, ...]:
    """All GPUs with a window in their order; of more than ``SHOWN_GPU_COUNT`` a choice.

    It holds the ``late`` ones, between which the longest waits are, those of the longest gaps, the one that computes
    most, the one in the middle, and then those that compute least.
    """
    judged = [gpu for gpu in gpus if gpu.occupancy.window_ns]
    if len(judged) <= SHOWN_GPU_COUNT:
        return tuple(judged)
    by_id = {gpu.id: gpu for gpu in judged}
    by_gaps = list(dict.fromkeys(gap.gpu for gap in gaps if gap.gpu in by_id))[:_MOST_BY_GAPS]
    idlest_first = [gpu.id for gpu in sorted(judged, key=_compute_share)]
    by_waits = [gpu_id for gpu_id in late if gpu_id in by_id]
    wanted = dict.fromkeys((*by_waits, *by_gaps, idlest_first[-1], idlest_first[len(idlest_first) // 2], *idlest_first))
    chosen = set(list(wanted)[:SHOWN_GPU_COUNT])
    return tuple(gpu for gpu in judged if gpu.id in chosen)


def _compute_share(gpu: Gpu) -> float:
    times = gpu.occupancy.part_times()
    return sum(times.of(part) for part in _COMPUTING) / times.window_ns
