"""The verdict in a few sentences, the same in every format."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.analysis.gpu_time import GpuTime, Spread
from nsysan.model.partition import Part
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_fraction
from nsysan.report.gpus import job_share
from nsysan.report.parts import OTHER_PARTS, part_label
from nsysan.report.prose import Phrase, Sentence, capitalized, ended


@dataclass(frozen=True, slots=True)
class Verdict:
    """One sentence to repeat in a meeting, why it is no more than that, and what else to know, with its evidence."""

    sentence: str
    why: str | None
    details: tuple[Sentence, ...]


def state_verdict(run: Run) -> Verdict:
    """The headline of the diagnosis, or where there is none an honest sentence about the time."""
    gpu_time = run.results.get(GpuTime)
    headline = run.diagnosis.headline
    why = None if headline or run.diagnosis.why is None else ended(capitalized(run.diagnosis.why))
    if isinstance(gpu_time, Skipped):
        return Verdict(headline.sentence if headline else _unknown(gpu_time), None, ())
    if not gpu_time.gpus:
        return Verdict("No GPU work was recorded, so there is nothing to judge", None, ())
    sentence = headline.sentence if headline else _time_sentence(gpu_time)
    return Verdict(sentence, why, (_compute_sentence(gpu_time), _largest_other_sentence(gpu_time)))


def _unknown(skipped: Skipped) -> str:
    return f"Where the GPU time went is unknown: {skipped.reason.rstrip('.')}"


def _time_sentence(gpu_time: GpuTime) -> str:
    """What the GPUs did, computing first; a description, for without steps there is no verdict."""
    part, share = largest_other_part(gpu_time)
    gpus = "The GPU" if len(gpu_time.gpus) == 1 else f"The {counted(len(gpu_time.gpus), 'GPU')}"
    busy = f"{gpus} computed for {format_fraction(gpu_time.job.compute_busy_frac.mean_frac)} of the window"
    label = "idle time" if part is Part.IDLE else part_label(part)
    return f"{busy}; {label} took {format_fraction(share.mean_frac)}" if share.worst_frac else busy


def _compute_sentence(gpu_time: GpuTime) -> Sentence:
    busy = gpu_time.job.compute_busy_frac
    figure = Phrase(format_fraction(busy.mean_frac), "time")
    if len(gpu_time.gpus) == 1:
        return (Phrase("Compute kernels ran for "), figure, Phrase(" of the window."))
    worst = f", least on {busy.worst_gpu} with {format_fraction(busy.worst_frac)}."
    return (Phrase("On average compute kernels ran for "), figure, Phrase(f" of the window{worst}"))


def _largest_other_sentence(gpu_time: GpuTime) -> Sentence:
    part, share = largest_other_part(gpu_time)
    if not share.worst_frac:
        return (Phrase("Compute filled the window: no other part took any time."),)
    figure = Phrase(f"{part_label(part)}, {format_fraction(share.mean_frac)}", "gaps" if part is Part.IDLE else "time")
    worst = f", and most of it on {share.worst_gpu}: {format_fraction(share.worst_frac)}."
    end = "." if len(gpu_time.gpus) == 1 else worst
    return (Phrase("The largest part without compute is "), figure, Phrase(end))


def largest_other_part(gpu_time: GpuTime) -> tuple[Part, Spread]:
    """The part without compute that has the largest mean share of the window, and its shares."""
    shares = ((part, job_share(gpu_time, part)) for part in OTHER_PARTS)
    return max(shares, key=lambda entry: entry[1].mean_frac)
