"""The verdict: the five classes in the order of the walk, and the one that holds the job back most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.elementwise_chains import ElementwiseChains
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.step_losses import ClassLoss, LossReport, StepLosses
from nsysan.analysis.stragglers import Stragglers
from nsysan.findings.hidden_work import why_hidden
from nsysan.findings.inefficient_gemm import RULE as INEFFICIENT_GEMM_RULE
from nsysan.findings.memory_bandwidth import unsampled_saving_ns
from nsysan.findings.non_gemm import RULE as NON_GEMM_RULE
from nsysan.findings.product_speed import ProductSpeed
from nsysan.findings.start_up import RULE as START_UP
from nsysan.model.findings import ClassVerdict, Diagnosis, Finding, Headline
from nsysan.model.idle import Cause
from nsysan.model.losses import EXPOSED_COLLECTIVE, SLOW_LINK, Basis, Bound
from nsysan.model.prose import capitalized, paired, spelled, uncapitalized
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import BUSY_FRAC, MATERIAL_FRAC, NAMED_FRAC
from nsysan.model.units import format_duration, format_fraction
from nsysan.model.verdicts import BottleneckClass, ClassState

_STRETCHES = {
    Basis.STEPS: "the mean step",
    Basis.AFTER_START_UP: "the time after start-up",
    Basis.WINDOW: "the window",
}
_SPANS = {
    Basis.STEPS: "a step",
    Basis.AFTER_START_UP: "after start-up",
    Basis.WINDOW: "of the window",
}


def diagnose(results: ResultSet, findings: Sequence[Finding]) -> Diagnosis:
    """The diagnosis of these results and what was found in them; of every class unknown, and why, without losses."""
    losses = results.get(StepLosses)
    if isinstance(losses, Skipped):
        gpu_time = results.get(GpuTime)
        reason = gpu_time.reason if isinstance(gpu_time, Skipped) else losses.reason
        unknown = ClassVerdict(ClassState.UNKNOWN, None, None)
        return Diagnosis(None, f"No verdict: {reason}.", dict.fromkeys(BottleneckClass, unknown))
    return _Walk(losses.step_losses, results, findings).diagnosis()


class _Walk:
    """The classes one after the other, over the same stretch of time."""

    def __init__(self, report: LossReport, results: ResultSet, findings: Sequence[Finding]) -> None:
        self._report, self._results, self._findings = report, results, findings
        self._products = ProductSpeed(report, results)
        self._hidden = why_hidden(results)
        self._losses: Mapping[BottleneckClass, ClassLoss] = {one.bottleneck_class: one for one in report.classes}

    def diagnosis(self) -> Diagnosis:
        """The verdict on every class, and the headline over all of them."""
        if self._hidden is not None:
            unknown = ClassVerdict(ClassState.UNKNOWN, None, None, 0, f"{self._hidden}.")
            return Diagnosis(
                None, f"No verdict: {self._hidden}.", dict.fromkeys(BottleneckClass, unknown), self._begin()
            )
        classes = {one: self._verdict(one) for one in BottleneckClass}
        headline = next(filter(None, map(self._headline, self._largest_first())), None)
        why = self._caveat() if headline is not None else self._nothing()
        order = None if headline is None else self._order(classes, headline.bottleneck_class)
        return Diagnosis(headline, why, classes, self._begin(), order)

    def _largest_first(self) -> list[BottleneckClass]:
        """The classes that may cost enough to matter."""
        material = [one for one in BottleneckClass if self._weight(one) >= MATERIAL_FRAC * self._report.stretch_ns]
        return sorted(material, key=self._weight, reverse=True)

    def _weight(self, one: BottleneckClass) -> int:
        """What a class may cost."""
        return self._losses[one].recoverable_ns + self._losses[one].unresolved_ns

    def _verdict(self, one: BottleneckClass) -> ClassVerdict:
        loss = self._losses[one]
        frac, open_frac = (time / self._report.stretch_ns for time in (loss.recoverable_ns, loss.unresolved_ns))
        state = ClassState.PROBLEM if frac >= MATERIAL_FRAC else ClassState.OK
        sentence = None if (first := self._first(one)) is None else first.title
        if state is ClassState.OK and open_frac >= MATERIAL_FRAC:
            state = ClassState.UNKNOWN
        if state is ClassState.OK and self._ranks_missing and one is not BottleneckClass.COMPUTE:
            return ClassVerdict(ClassState.UNKNOWN, None, None, loss.unresolved_ns, f"{self._ranks_missing}.")
        if one is BottleneckClass.COMPUTE and state is ClassState.OK:
            if self._products.tells_of_computing:
                return ClassVerdict(state, loss.recoverable_ns, frac, loss.unresolved_ns, self._products.told)
            # only ranks were compared, or products alone: all kernels of all ranks may be slow
            return ClassVerdict(ClassState.UNKNOWN, None, None, 0, self._products.told)
        if state is ClassState.OK and (unseen := self._unseen(one)) is not None:
            return ClassVerdict(ClassState.UNKNOWN, None, None, 0, unseen)
        return ClassVerdict(state, loss.recoverable_ns, frac, loss.unresolved_ns, sentence)

    def _unseen(self, one: BottleneckClass) -> str | None:
        """What was not recorded that a class may lose much to, None where nothing is missing."""
        if one in _OF_IDLE_CAUSES and (why := self._why_causeless) is not None:
            return f"{capitalized(why)}: idle has no cause."
        if one is BottleneckClass.DATA and self._may_hide_data_waits:
            return _NO_DATA_WAITS
        return self._open_rows if one is BottleneckClass.MEMORY else None

    @property
    def _may_hide_data_waits(self) -> bool:
        """Whether enough is lost to what waits for data count as where nothing names them."""
        hidden_ns = self._lost_to(_LIKE_DATA_WAITS)
        return not self._report.tells_data_waits and hidden_ns >= MATERIAL_FRAC * self._report.stretch_ns

    @property
    def _open_rows(self) -> str | None:
        """That rows of kernels may lose much to memory, for no counters were sampled; None where they are too few."""
        saved_ns = unsampled_saving_ns(self._results)
        if saved_ns < MATERIAL_FRAC * self._report.stretch_ns:
            return None
        share = format_fraction(saved_ns / self._report.stretch_ns)
        return (
            f"Elementwise kernels in a row, as one each, would spare at most {format_duration(saved_ns)} a step, "
            f"{share}; whether memory bounds them needs sampled counters: --gpu-metrics-devices=all."
        )

    def _lost_to(self, causes: frozenset[str]) -> int:
        """What these causes cost at most."""
        return sum(loss.recoverable_ns for loss in self._report.causes if loss.cause in causes)

    @property
    def _ranks_missing(self) -> str | None:
        """How many ranks are missing, None where none is known to be: a gain is then only what is seen of it."""
        found = self._results.get(Collectives)
        if isinstance(found, Skipped) or found.world_size is None or found.world_size <= len(found.ranks):
            return None
        missing = found.world_size - len(found.ranks)
        return f"{missing} of {found.world_size} ranks {'is' if missing == 1 else 'are'} missing"

    @property
    def _may_wait_for_missing(self) -> bool:
        """Whether ranks are missing and all links known are of one node, so that long exposure is rather waiting."""
        found = self._results.get(Collectives)
        rows = () if isinstance(found, Skipped) else found.collectives
        return self._ranks_missing is not None and not any((row.nodes or 1) > 1 for row in rows)

    @property
    def _why_causeless(self) -> str | None:
        """Why a material part of the idle time has no cause, None where all that matters has one."""
        gpu_time = self._results.get(GpuTime)
        if isinstance(gpu_time, Skipped) or all(gpu.idle_causes is None for gpu in gpu_time.gpus):
            return "CUDA calls were not recorded"
        lost_ns = sum(loss.lost_ns for loss in self._report.causes if loss.cause == Cause.UNKNOWN.value)
        frac = lost_ns / self._report.stretch_ns
        if frac < MATERIAL_FRAC:
            return None
        return (
            f"no recorded call ends the idle time that is {format_fraction(frac)} of {_STRETCHES[self._report.basis]}"
        )

    @property
    def _idle_matters(self) -> bool:
        """Whether any GPU idles for a material part of its window."""
        gpu_time = self._results.get(GpuTime)
        gpus = () if isinstance(gpu_time, Skipped) else gpu_time.gpus
        return any(gpu.time.idle_ns >= MATERIAL_FRAC * (gpu.window_end_ns - gpu.window_start_ns) for gpu in gpus)

    def _first(self, one: BottleneckClass) -> Finding | None:
        """The finding of a class that wins most; slow links rather than the transfers that they expose."""
        own = [found for found in self._findings if found.bottleneck_class is one and found.recoverable_ns]
        return max(own, key=lambda found: (found.recoverable_ns or 0, found.cause == SLOW_LINK), default=None)

    def _headline(self, one: BottleneckClass) -> Headline | None:
        first = self._first(one)
        if first is None or first.cause is None or (_may_be_waiting(first) and self._may_wait_for_missing):
            return None
        cost = paired(format_duration(first.recoverable_ns or 0), "of", format_duration(self._report.stretch_ns))
        share = format_fraction((first.recoverable_ns or 0) / self._report.stretch_ns)
        what = first.title.partition(": ")[0]
        in_all = self._weight(one) / self._report.stretch_ns
        more = (
            f", {format_fraction(in_all)} in all"
            if in_all - (first.recoverable_ns or 0) / self._report.stretch_ns >= NAMED_FRAC
            else ""
        )
        claim = self._rank_among_losses(one, first)
        return Headline(
            bottleneck_class=one,
            cause=first.cause,
            rank=first.rank,
            finding=first.id,
            sentence=f"{one.value.capitalize()} {claim}{more}: {uncapitalized(what)}, {cost} "
            f"{_SPANS[self._report.basis]} ({share})",
        )

    def _rank_among_losses(self, one: BottleneckClass, first: Finding) -> str:
        """How much can be claimed for a class: not most of all where computing may lose more, and that is not known."""
        if _may_be_waiting(first):
            return "may hold the job back most"
        hidden_ns = self._report.computing_ns + self._report.graph_ns
        compute_is_known = self._products.tells_of_computing or (
            self._losses[BottleneckClass.COMPUTE].recoverable_ns >= MATERIAL_FRAC * self._report.stretch_ns
        )
        if one is not self._largest_first()[0] and not self._may_wait_for_missing:
            return "is the largest loss with a remedy"
        if self._may_wait_for_missing or (not compute_is_known and self._weight(one) < hidden_ns):
            return "is the largest measurable loss"
        return "holds the job back most"

    def _order(self, classes: Mapping[BottleneckClass, ClassVerdict], largest: BottleneckClass) -> str | None:
        """What the walk meets before the largest."""
        first = next(one for one in classes if one is largest or classes[one].state is ClassState.PROBLEM)
        if first is largest:
            return None
        share = format_fraction(classes[first].frac or 0.0)
        return f"The walk meets {first.value} first ({share})."

    def _begin(self) -> str:
        """Whether the GPUs are slow, or waiting."""
        report = self._report
        busy, graphs = report.computing_ns / report.stretch_ns, report.graph_ns / report.stretch_ns
        also = (
            f", and graphs whose kernels are unknown for {format_fraction(graphs)}" if graphs >= MATERIAL_FRAC else ""
        )
        told = f"Compute kernels run for {format_fraction(busy)} of {_STRETCHES[report.basis]}{also}"
        if busy + graphs >= BUSY_FRAC:
            return f"{told}: the GPUs are working, not waiting."
        return f"{told}: for the rest the GPUs wait."

    def _caveat(self) -> str | None:
        """What of the time the verdict is about where there are no steps."""
        if self._report.basis is Basis.STEPS:
            return None
        if self._report.basis is Basis.AFTER_START_UP:
            return "No steps are known: the time after start-up is judged as one."
        return "No steps are known: the whole window is judged as one, and it may include start-up."

    def _nothing(self) -> str:
        """Why there is no headline."""
        if self._ranks_missing:
            return (
                f"No verdict: {self._ranks_missing}, and what those did may be what the others waited for{self._for()}."
            )
        if self._why_causeless is not None and self._idle_matters:
            return f"No verdict: {self._why_causeless}, so nothing tells why the GPUs idle."
        unknown_ns = self._lost_to(frozenset({Cause.UNKNOWN.value}))
        if unknown_ns >= MATERIAL_FRAC * self._report.stretch_ns:
            share = paired(format_duration(unknown_ns), "of", format_duration(self._report.stretch_ns))
            return f"No verdict: idle time whose cause is not known costs most, {share} {_SPANS[self._report.basis]}."
        if self._report.waiting_ns >= MATERIAL_FRAC * self._report.stretch_ns:
            return self._waiting()
        shown = f"{self._no_cause()} costs {format_fraction(MATERIAL_FRAC)} of {_STRETCHES[self._report.basis]} or more"
        return ". ".join(filter(None, (shown, *self._beside(), self._products.doubt))) + "."

    def _no_cause(self) -> str:
        """What does not cost much: no cause at all, or none but one that no rule knows a remedy for."""
        known = (loss for loss in self._report.causes if loss.bottleneck_class is not None)
        most = max(known, key=lambda loss: loss.recoverable_ns, default=None)
        if most is None or most.recoverable_ns < MATERIAL_FRAC * self._report.stretch_ns:
            # rows of kernels that are told beside it may well cost as much
            return "No cause" if self._open_rows is None else "No cause that was measured"
        cost = paired(format_duration(most.recoverable_ns), "of", format_duration(self._report.stretch_ns))
        share = format_fraction(most.recoverable_ns / self._report.stretch_ns)
        return f"No cause but {spelled(most.cause)}, {cost} {_SPANS[self._report.basis]} ({share}),"

    def _beside(self) -> Iterator[str]:
        """What is not known to win anything a step, and is worth a sentence: starting up, a data sheet, and chains."""
        for found in self._findings:
            if found.id == START_UP.id:
                yield found.title.partition(": ")[0]
            if found.id == INEFFICIENT_GEMM_RULE.id and found.recoverable_ns is None:
                yield found.title
            if found.id == NON_GEMM_RULE.id:
                yield from (one.sentence.rstrip(".") for one in found.evidence if one.source == ElementwiseChains.id)

    def _for(self) -> str:
        """How long the others may have waited for ranks that are missing."""
        open_ns = self._losses[BottleneckClass.COMMUNICATION].unresolved_ns
        if open_ns < MATERIAL_FRAC * self._report.stretch_ns:
            return ""
        cost = paired(format_duration(open_ns), "of", format_duration(self._report.stretch_ns))
        share = format_fraction(open_ns / self._report.stretch_ns)
        return f", {cost} {_SPANS[self._report.basis]} ({share}) at most"

    def _waiting(self) -> str:
        """That ranks wait for each other, and why none can be named that makes them."""
        report, stragglers = self._report, self._results.get(Stragglers)
        cost = paired(format_duration(report.waiting_ns), "of", format_duration(report.stretch_ns))
        told = (
            f"No verdict: ranks wait for each other, {cost} {_SPANS[report.basis]} "
            f"({format_fraction(report.waiting_ns / report.stretch_ns)})"
        )
        if isinstance(stragglers, Skipped) or stragglers.stragglers:
            return f"{told}, and nothing tells what made those late that came last."
        return (
            f"{told}, but no rank comes late to collectives, and messages between two do not tell whose work is late."
        )


def _may_be_waiting(found: Finding) -> bool:
    """Whether it is about communication of which nobody knows what of it is transfer and what waiting for others."""
    return found.cause == EXPOSED_COLLECTIVE and found.bound is Bound.AT_MOST


_NO_DATA_WAITS = (
    "Neither ranges of a loader nor calls of the operating system were recorded: "
    "waiting for data looks like launches that come late. nsys records both with -t cuda,nvtx,osrt."
)
_LIKE_DATA_WAITS = frozenset({Cause.LAUNCH_STARVED.value, Cause.OS_BLOCKED.value, Cause.UNKNOWN.value})
_OF_IDLE_CAUSES = frozenset({BottleneckClass.DATA, BottleneckClass.MEMORY, BottleneckClass.SCHEDULING})
