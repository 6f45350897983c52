"""Activations that the backward computes again, which is the price of not keeping them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nsysan.analysis.memory import Memory
from nsysan.analysis.recomputation import Recomputation
from nsysan.findings.losing import finding_of, losses_to, step_evidence
from nsysan.findings.registry import Rule
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import RECOMPUTATION
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import format_bytes, format_fraction


def find_recomputed(results: ResultSet) -> Iterable[Finding]:
    """A finding where kernels of the forward run again in the backward."""
    again = results.get(Recomputation)
    if isinstance(again, Skipped):
        return
    for loss in losses_to(results, RECOMPUTATION):
        row = next(row for row in again.recomputation if row.device == loss.worst_device)
        yield finding_of(
            loss,
            results,
            rule=RULE.id,
            title="The backward computes activations again",
            evidence=(
                Evidence(
                    f"{format_fraction(row.recomputed_frac or 0.0)} of compute kernels' time on {row.device} "
                    f"repeats the "
                    "forward.",
                    Recomputation.id,
                    kernels=tuple(kernel.name for kernel in again.recomputed_kernels[:3]),
                ),
                *_room(results),
                *step_evidence(results, loss.worst_device),
            ),
            confirm="Read the peak of memory with and without: recomputation is right where activations would not fit.",
            confidence=row.confidence or Confidence.LOW,
        )


RULE = Rule("recomputed", find_recomputed)


def _room(results: ResultSet) -> Iterator[Evidence]:
    """How much memory the fullest GPU has left."""
    memory = results.get(Memory)
    gpus = [] if isinstance(memory, Skipped) else [gpu for gpu in memory.memory.gpus if gpu.capacity_bytes]
    if gpus:
        fullest = max(gpus, key=lambda gpu: gpu.peak_bytes)
        peak, capacity = format_bytes(fullest.peak_bytes), format_bytes(fullest.capacity_bytes or 0)
        yield Evidence(f"At its peak {fullest.gpu} holds {peak} of {capacity}.", Memory.id)
