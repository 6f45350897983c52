"""The verdict in a few sentences and what it is about, the same in every format."""

from __future__ import annotations

import msgspec

from nsysan.analysis.gpu_time import GpuTime, GpuTimes, Spread
from nsysan.analysis.steps import Steps
from nsysan.model.awaited import awaited
from nsysan.model.idle import Cause
from nsysan.model.partition import Part, PartTimes
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_duration, format_fraction
from nsysan.report.causes import cause_shares
from nsysan.report.extremes import Extreme, extreme_of
from nsysan.report.partition import COMPUTE_PARTS, OTHER_PARTS, job_share, part_share
from nsysan.report.prose import Phrase, Sentence, capitalized, ended, listed, paired, spelled
from nsysan.report.steps import slowest_device
from nsysan.report.walk import walk_details

_END = Phrase(".")
_EVEN_FRAC = 0.005
_NEARLY = 0.5
_HEADLINE_NAMES = {
    Part.IDLE: "idle time",
    Part.EXPOSED_COMMUNICATION: "exposed communication, transfer or waiting,",
    Part.OPAQUE_GRAPH: "CUDA graphs whose kernels are unknown",
}
"""What the sentence to repeat calls a part, where its bare name could mislead."""


class Verdict(msgspec.Struct, frozen=True):
    """One sentence to repeat in a meeting, why it is no more than that, and what else to know, with its evidence."""

    sentence: str
    why: str | None
    details: tuple[Sentence, ...]


def state_verdict(run: Run) -> Verdict:
    """The headline of the diagnosis, or where there is none an honest sentence about the time."""
    gpu_time = run.results.get(GpuTime)
    headline = run.diagnosis.headline
    if isinstance(gpu_time, Skipped):
        return Verdict(headline.sentence if headline else _unknown(gpu_time), None, ())
    if headline:
        return Verdict(f"{headline.sentence}{_as_far_as_known(gpu_time)}", run.diagnosis.why, walk_details(run))
    why = None if run.diagnosis.why is None else ended(capitalized(run.diagnosis.why))
    missing = gpu_time.job.missing_kernels
    if missing is not None and not missing.usable_count:
        lost = f"no usable record is left of {counted(missing.count, 'kernel')}"
        return Verdict(f"What the GPUs computed is not known: {lost}", why, ())
    return Verdict(_time_sentence(gpu_time), why, _details(gpu_time))


def _as_far_as_known(gpu_time: GpuTime) -> str:
    """What makes the figures of a headline bounds: work that left no record, or of which too many records are lost."""
    missing = gpu_time.job.missing_kernels
    if missing is not None:
        return f"; at most, for {missing.described('kernel')}"
    return "; at most, for graphs ran that left no record" if _has_unseen_work(gpu_time) else ""


def subject_of(run: Run) -> str:
    """What the run is about: the name of its report, or how many there are."""
    if not run.reports:
        return "no report"
    first, *others = run.reports
    return first.name if not others else f"{first.name} and {counted(len(others), 'other report')}"


def facts_of(run: Run) -> tuple[str, ...]:
    """What a reader places the run by: its GPUs, their window, and the profiler."""
    gpu_time = run.results.get(GpuTime)
    gpu_facts = () if isinstance(gpu_time, Skipped) else _gpu_facts(gpu_time)
    versions = sorted({report.nsys_version for report in run.reports if report.nsys_version is not None})
    return (*gpu_facts, *((f"Nsight Systems {listed(versions)}",) if versions else ()))


def step_fact(run: Run) -> str | None:
    """How many steps are steady and how long they take; None where none is."""
    found = run.results.get(Steps)
    if isinstance(found, Skipped):
        return None
    device = slowest_device(found.steps)
    if device.median_ns is None:
        return None
    told = "" if device.source.value == "nvtx" else " by the kernels' period"
    return f"{counted(device.count, 'steady step')}{told}, median {format_duration(device.median_ns)}"


def _gpu_facts(gpu_time: GpuTime) -> tuple[str, str]:
    names = sorted({gpu.name for gpu in gpu_time.gpus if gpu.name is not None})
    count = counted(len(gpu_time.gpus), "GPU")
    windows = sorted(gpu.time.window_ns for gpu in gpu_time.gpus)
    shortest, longest = format_duration(windows[0]), format_duration(windows[-1])
    window = longest if shortest == longest else paired(shortest, "to", longest)
    return f"{count}, {listed(names)}" if names else count, f"window {window}"


def _unknown(skipped: Skipped) -> str:
    return f"Where the GPU time went is unknown: {skipped.reason.rstrip('.')}"


def _time_sentence(gpu_time: GpuTime) -> str:
    """What the GPUs did, computing first, and what they waited for: a description, for nothing is weighed."""
    part, share = _largest_other_part(gpu_time)
    gpus = "The GPU" if len(gpu_time.gpus) == 1 else f"The {counted(len(gpu_time.gpus), 'GPU')}"
    unseen = _has_unseen_work(gpu_time)
    least = "at least " if gpu_time.job.time.opaque_graph.worst_frac or unseen else ""
    most = "at most " if part is Part.IDLE and unseen else ""
    busy = f"{gpus} computed for {least}{format_fraction(gpu_time.job.compute_busy_frac.mean_frac)} of the window"
    if not share.worst_frac:
        return busy
    waited = _largest_cause(gpu_time) if part is Part.IDLE else None
    if waited is None:
        return f"{busy}; {_HEADLINE_NAMES.get(part, spelled(part))} took {most}{format_fraction(share.mean_frac)}"
    cause, cause_share = waited
    they = "it" if len(gpu_time.gpus) == 1 else "they"
    also = _nearly_as_large(gpu_time, cause_share)
    return f"{busy}; {they} waited for {awaited(cause)} for {most}{format_fraction(cause_share)}{also}"


def _nearly_as_large(gpu_time: GpuTime, cause_share: float) -> str:
    """The largest part that is not idle, where it takes at least half of what the largest cause of idle time does."""
    shares = {part: job_share(gpu_time, part).mean_frac for part in OTHER_PARTS if part is not Part.IDLE}
    part = max(shares, key=lambda part: shares[part])
    if shares[part] < _NEARLY * cause_share:
        return ""
    return f", and {_HEADLINE_NAMES.get(part, spelled(part))} took {format_fraction(shares[part])}"


def _largest_cause(gpu_time: GpuTime) -> tuple[Cause, float] | None:
    """What the GPUs waited for longest and its share of the window; None where it is unknown for any of them."""
    shares = cause_shares(gpu_time)
    if not shares or any(gpu.idle_causes is None for gpu in gpu_time.gpus):
        return None
    cause = max(shares, key=lambda cause: shares[cause])
    return None if cause is Cause.UNKNOWN else (cause, shares[cause])


def _has_unseen_work(gpu_time: GpuTime) -> bool:
    """Whether the GPUs did more than is recorded, so that idle time may have been busy."""
    return bool(gpu_time.job.unseen_graph_launch_count) or gpu_time.job.missing_kernels is not None


def _details(gpu_time: GpuTime) -> tuple[Sentence, ...]:
    """What the sentence about the time does not say: of several GPUs the worst that stand out, of one its times."""
    part, share = _largest_other_part(gpu_time)
    several = len(gpu_time.gpus) > 1
    compute = _least_compute(gpu_time) if several else _compute_time(gpu_time.gpus[0].time)
    is_bound = part is Part.IDLE and _has_unseen_work(gpu_time)
    if not share.worst_frac:
        rest: Sentence | None = (Phrase("No other part took any time."),)
    elif several:
        rest = _most_time(part, share, gpu_time)
    else:
        rest = _part_time(part, gpu_time.gpus[0], is_bound=is_bound)
    return tuple(sentence for sentence in (compute, rest) if sentence is not None)


def _least_compute(gpu_time: GpuTime) -> Sentence | None:
    """None where no GPU computes noticeably less: the mean says it all."""
    if _is_even(gpu_time.job.compute_busy_frac):
        return None
    least = _computing_least(gpu_time)
    return (Phrase(f"{least.gpus} computed least, for "), Phrase(least.share, "time"), _END)


def _computing_least(gpu_time: GpuTime) -> Extreme:
    return extreme_of(gpu_time.job.compute_busy_frac, gpu_time.gpus, lambda gpu: gpu.compute_busy_frac)


def _having_most(part: Part, gpu_time: GpuTime) -> Extreme:
    return extreme_of(job_share(gpu_time, part), gpu_time.gpus, lambda gpu: part_share(gpu.time, part))


def _most_time(part: Part, share: Spread, gpu_time: GpuTime) -> Sentence | None:
    """None where no GPU has noticeably more."""
    if _is_even(share):
        return None
    most = _having_most(part, gpu_time)
    return (Phrase(f"{most.gpus} had most {_name_of(part)}, "), Phrase(most.share, _evidence_of(part)), _END)


def _is_even(spread: Spread) -> bool:
    """Whether the worst share is next to the mean: less apart than two captures of the same job are."""
    return abs(spread.worst_frac - spread.mean_frac) < _EVEN_FRAC


def _compute_time(time: PartTimes) -> Sentence:
    compute_ns = sum(time.of(part) for part in COMPUTE_PARTS)
    figure = paired(format_duration(compute_ns), "of", format_duration(time.window_ns))
    return (Phrase("Compute kernels ran for "), Phrase(figure, "time"), _END)


def _part_time(part: Part, gpu: GpuTimes, *, is_bound: bool) -> Sentence:
    gaps = _in_gaps(gpu) if part is Part.IDLE else ""
    most = "at most " if is_bound else ""
    figure = Phrase(f"{most}{format_duration(gpu.time.of(part))}{gaps}", _evidence_of(part))
    return (Phrase(f"{capitalized(_name_of(part))} took "), figure, _END)


def _in_gaps(gpu: GpuTimes) -> str:
    longest = f", the longest {format_duration(gpu.longest_idle_gap_ns)}" if gpu.idle_gap_count > 1 else ""
    return f" in {counted(gpu.idle_gap_count, 'gap')}{longest}"


def _name_of(part: Part) -> str:
    return "idle time" if part is Part.IDLE else spelled(part)


def _evidence_of(part: Part) -> str:
    """The section that shows most of this part."""
    return "gaps" if part is Part.IDLE else "time"


def _largest_other_part(gpu_time: GpuTime) -> tuple[Part, Spread]:
    """The part without compute that has the largest mean share of the window, and its shares."""
    shares = ((part, job_share(gpu_time, part)) for part in OTHER_PARTS)
    return max(shares, key=lambda entry: entry[1].mean_frac)
