"""A rank that computes longer than the others, which wait for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.step_losses import Loss
from nsysan.analysis.stragglers import Stragglers
from nsysan.findings.losing import finding_of, losses_to, step_evidence, whose
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import CLOCK_THROTTLE, MOE_SKEW, SLOW_COMPUTE
from nsysan.model.prose import capitalized
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import format_duration, format_fraction

_KINDS = {
    CLOCK_THROTTLE: (
        "every kernel is slower by the same ratio, as on a throttled clock",
        Confidence.MEDIUM,
        "Sample its clock: nvidia-smi dmon -s pc, or --gpu-metrics-devices=all.",
    ),
    SLOW_COMPUTE: (
        "kernels take longer than on the others",
        Confidence.MEDIUM,
        "Compare its kernels and its input with another rank's.",
    ),
    MOE_SKEW: (
        "experts have more tokens than the others'",
        Confidence.MEDIUM,
        "Log the tokens of each expert: by how much is the largest over the mean?",
    ),
}


def find_late_compute(results: ResultSet) -> Iterable[Finding]:
    """A finding for each reason why ranks compute longer than those that wait for them."""
    for cause, (what, confidence, confirm) in _KINDS.items():
        for loss in losses_to(results, cause):
            yield finding_of(
                loss,
                results,
                rule=RULE.id,
                title=capitalized(f"{whose(loss)}{what}"),
                evidence=(*_waits(results, loss), *step_evidence(results, loss.worst_device)),
                confirm=confirm,
                confidence=confidence,
            )


RULE = Rule("late_compute", find_late_compute)


def _waits(results: ResultSet, loss: Loss) -> Iterator[Evidence]:
    """How often the rank came last, and by how much its kernels are slower."""
    found = results.get(Stragglers)
    for one in () if isinstance(found, Skipped) else found.stragglers:
        if one.device == loss.worst_device and one.why is not None:
            ratio = (
                "" if one.why.kernel_ratio is None else f"; its kernels take {one.why.kernel_ratio:.2f} times as long"
            )
            yield Evidence(
                f"Rank {one.rank} came last to {format_fraction(one.late_frac)} of the collectives with a late rank, "
                f"and the others waited {format_duration(one.caused_ns)} for it{ratio}.",
                Stragglers.id,
            )
