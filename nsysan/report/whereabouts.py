"""Where a place of the timeline lies in the job: on which rank, in which step."""

from __future__ import annotations

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.steps_of_device import Step
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import format_count
from nsysan.report.columns import cut
from nsysan.report.elements import Place
from nsysan.report.steps import steps_by_gpu

_MARKER_CELLS = 40


def ranks_of_gpus(run: Run) -> dict[str, int]:
    """The rank of each GPU that one rank alone uses, where ranks have anything to do with each other."""
    found, gpu_time = run.results.get(Collectives), run.results.get(GpuTime)
    if isinstance(found, Skipped) or isinstance(gpu_time, Skipped) or len(found.ranks) <= 1:
        return {}
    rank_of = {rank.device: rank.rank for rank in found.ranks}
    ranks = {gpu.id: {rank_of[device] for device in gpu.devices if device in rank_of} for gpu in gpu_time.gpus}
    return {gpu: next(iter(own)) for gpu, own in ranks.items() if len(own) == 1}


def whereabouts(run: Run, place: Place) -> str:
    """What is known of it, to stand behind its GPU: `` (rank 1, step 6 of 7, “step 5”)``, or nothing.

    A step is told of a place that lies in it as a whole, by its number as the steps are counted on the page and by what
    marks it, which may count otherwise.
    """
    rank = ranks_of_gpus(run).get(place.gpu)
    known = [*([] if rank is None else [f"rank {rank}"]), *_step(run, place)]
    return f" ({', '.join(known)})" if known else ""


def _step(run: Run, place: Place) -> list[str]:
    of_gpu = steps_by_gpu(run).get(place.gpu)
    if of_gpu is None:
        return []
    return [
        f"step {format_count(number)} of {format_count(of_gpu.step_count)}{_marked(step)}"
        for number, step in enumerate(of_gpu.list, start=1)
        if step.start_ns <= place.start_ns and place.end_ns <= step.end_ns
    ][:1]


def _marked(step: Step) -> str:
    return "" if step.marker is None else f", “{cut(step.marker, _MARKER_CELLS)}”"
