"""What rules about lost time share: the loss they are about, how much it matters, and how it is said."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.idle_gaps import Gap, IdleGaps
from nsysan.analysis.step_losses import Loss, LossReport, StepLosses
from nsysan.analysis.steps import Steps
from nsysan.analysis.timeline import Timeline
from nsysan.findings.advice import advise
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, EvidencePlace, Finding, PlaceKind
from nsysan.model.idle import Cause
from nsysan.model.losses import Basis, Bound
from nsysan.model.partition import Part
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import CRITICAL_FRAC, MATERIAL_FRAC, NAMED_FRAC
from nsysan.model.units import format_duration, format_fraction
from nsysan.model.verdicts import BottleneckClass, Severity

_BOUNDS = {Bound.AT_MOST: "at most ", Bound.AT_LEAST: "at least ", Bound.EITHER: ""}


def losses_of(results: ResultSet) -> LossReport | None:
    """What a step loses; None where that is not known."""
    found = results.get(StepLosses)
    return None if isinstance(found, Skipped) else found.step_losses


def losses_to(results: ResultSet, cause: str, bottleneck_class: BottleneckClass | None = None) -> Iterator[Loss]:
    """The losses to a cause, of one class where one is given, that are worth saying."""
    report = losses_of(results)
    for loss in () if report is None else report.causes:
        right = loss.cause == cause and bottleneck_class in {None, loss.bottleneck_class}
        if right and share_of(loss, report) >= NAMED_FRAC:
            yield loss


def share_of(loss: Loss, report: LossReport | None) -> float:
    """What of a step the loss costs."""
    return 0.0 if report is None else loss.recoverable_ns / report.stretch_ns


def severity_of(frac: float) -> Severity:
    """How much a share of a step matters."""
    if frac < MATERIAL_FRAC:
        return Severity.INFO
    return Severity.WARNING if frac < CRITICAL_FRAC else Severity.CRITICAL


def cost_of(loss: Loss, report: LossReport) -> str:
    """``at most 12.078 ms a step, 15.1 %``."""
    a_step = " a step" if report.basis is Basis.STEPS else ""
    return (
        f"{_BOUNDS[loss.bound]}{format_duration(loss.recoverable_ns)}{a_step}, "
        f"{format_fraction(loss.recoverable_ns / report.stretch_ns)}"
    )


def whose(loss: Loss) -> str:
    """Whose loss it is, to begin a title with: ``On rank 1 ``, or nothing where all have it."""
    if not loss.is_of_one_device:
        return ""
    return f"On rank {loss.worst_rank} " if loss.worst_rank is not None else f"On {loss.worst_device} "


def rank_of(loss: Loss) -> int | None:
    """The rank whose loss it is alone."""
    return loss.worst_rank if loss.is_of_one_device else None


def finding_of(  # noqa: PLR0913 -- what a finding says, each by its name
    loss: Loss,
    results: ResultSet,
    *,
    rule: str,
    title: str,
    evidence: Iterable[Evidence],
    confirm: str,
    confidence: Confidence = Confidence.HIGH,
) -> Finding:
    """The finding that a loss makes, with the advice that follows from its cause."""
    report = losses_of(results)
    assert report is not None, "there is a loss"
    lost = Evidence(_lost(loss, report), StepLosses.id)
    return Finding(
        id=rule,
        bottleneck_class=loss.bottleneck_class,
        cause=loss.cause,
        severity=severity_of(share_of(loss, report)),
        title=f"{title}: {cost_of(loss, report)}",
        recoverable_ns=loss.recoverable_ns,
        evidence=(lost, *evidence),
        advice=advise(loss.cause, loss.bottleneck_class, results),
        bound=loss.bound,
        confidence=confidence,
        rank=rank_of(loss),
        confirm=confirm,
    )


def _lost(loss: Loss, report: LossReport) -> str:
    """How much the devices lose, and which most."""
    basis = {
        Basis.STEPS: "the mean steady step",
        Basis.AFTER_START_UP: "the time after start-up",
        Basis.WINDOW: "the window",
    }[report.basis]
    of = f"{format_duration(report.stretch_ns)} of {basis}"
    if report.device_count == 1:
        return f"{format_duration(loss.lost_ns)} of {of}."
    if loss.worst_lost_ns == loss.lost_ns:
        return f"{format_duration(loss.lost_ns)} on average of {of}."
    worst = "" if loss.worst_rank is None else f" (rank {loss.worst_rank})"
    # no step wins more than what its slowest device lost, so that more than any one's mean is of several
    in_turn = loss.recoverable_ns - loss.worst_lost_ns >= NAMED_FRAC * report.stretch_ns
    also = " It is not the same device that loses it in every step, and the others wait each time." if in_turn else ""
    return (
        f"{format_duration(loss.lost_ns)} on average of {of}; most on {loss.worst_device}{worst}, "
        f"{format_duration(loss.worst_lost_ns)}.{also}"
    )


def gap_evidence(results: ResultSet, *causes: Cause) -> Iterator[Evidence]:
    """The gap with most of these causes, and its story where it has one."""
    found = results.get(IdleGaps)
    gaps = () if isinstance(found, Skipped) else _steady_gaps(found.gaps, results)
    times = [(sum((gap.causes or {}).get(f"{cause.value}_ns", 0) for cause in causes), gap) for gap in gaps]
    time_ns, gap = max(times, key=lambda entry: entry[0], default=(0, None))
    if gap is None or not time_ns:
        return
    place = EvidencePlace(PlaceKind.GAP, gap.gpu, gap.start_ns, gap.end_ns)
    told = f": {gap.story.sentence.rstrip('.')}" if gap.story is not None else ""
    kernels = (gap.after,) if gap.after is not None and not gap.after.startswith("[") else ()
    yield Evidence(f"{format_duration(time_ns)} of it in one gap on {gap.gpu}{told}.", IdleGaps.id, place, kernels)


def _steady_gaps(gaps: Sequence[Gap], results: ResultSet) -> Sequence[Gap]:
    """The gaps after start-up, of which the loss is; all of them where the window is judged as a whole."""
    report, gpu_time = losses_of(results), results.get(GpuTime)
    if report is None or report.basis is Basis.WINDOW or isinstance(gpu_time, Skipped):
        return gaps
    ends = {device.gpu: device.start_up.end_ns for device in gpu_time.devices if device.start_up is not None}
    return [gap for gap in gaps if gap.start_ns >= ends.get(gap.gpu, gap.start_ns)]


def part_evidence(results: ResultSet, part: Part) -> Iterator[Evidence]:
    """The longest stretch of a part."""
    found = results.get(Timeline)
    for one in () if isinstance(found, Skipped) else found.timeline.part_places:
        if one.part is part:
            length = format_duration(one.end_ns - one.start_ns)
            place = EvidencePlace(PlaceKind.PART, one.gpu, one.start_ns, one.end_ns)
            yield Evidence(f"The longest stretch lasts {length} on {one.gpu}.", Timeline.id, place)
            return


def step_evidence(results: ResultSet, device: str) -> Iterator[Evidence]:
    """The first steady step of a device."""
    steps, gpu_time = results.get(Steps), results.get(GpuTime)
    if isinstance(steps, Skipped) or isinstance(gpu_time, Skipped):
        return
    gpu = next((gpu.id for gpu in gpu_time.gpus if device in gpu.devices), None)
    own = next((one for one in steps.steps.devices if one.id == device), None)
    step = None if own is None else next((step for step in own.list if step.excluded is None), None)
    if gpu is not None and step is not None:
        place = EvidencePlace(PlaceKind.STEP, gpu, step.start_ns, step.end_ns)
        yield Evidence(f"A step of {device} takes {format_duration(step.duration_ns)}.", Steps.id, place)
