"""Collectives far below what was measured for their kind, size and ranks: a slow link, or a wrong transport."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from nsysan.analysis.ceilings import HeldAgainst
from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.step_losses import Loss, LossReport
from nsysan.findings.losing import finding_of, losses_of, losses_to
from nsysan.findings.registry import Rule
from nsysan.hardware.answers import Level
from nsysan.model.ceilings import Origin
from nsysan.model.confidence import Confidence
from nsysan.model.findings import Evidence, Finding
from nsysan.model.losses import EXPOSED_COLLECTIVE, SLOW_LINK, Bound
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import SLOW_LINK_FRAC
from nsysan.model.units import counted, format_bytes, format_fraction, format_rate

_LISTED = 3


class _Slow(msgspec.Struct, frozen=True):
    """A collective and the share of its measured bus bandwidth that it reaches."""

    row: CollectiveRow
    reached_frac: float

    @property
    def lost_ns(self) -> float:
        """What its transfers take beyond their ceiling, in all."""
        return (self.row.transfer_ns or 0) * (1 - self.reached_frac)


def find_slow_link(results: ResultSet) -> Iterable[Finding]:
    """A finding where exposed transfers reach less than 70 % of measured curves, whatever they had beside computing."""
    found, held, report = results.get(Collectives), results.get(HeldAgainst), losses_of(results)
    if isinstance(found, Skipped) or isinstance(held, Skipped) or report is None:
        return
    slow = sorted(_slow(found.collectives), key=lambda one: -one.lost_ns)
    if not slow or held.ceilings.origin is Origin.SIMULATED:
        return
    for loss in losses_to(results, EXPOSED_COLLECTIVE):
        if loss.bound is not Bound.AT_MOST:
            yield finding_of(
                _of_link(loss, _lost_per_step_ns(slow, report, results)),
                results,
                rule=RULE.id,
                title="Transfers are slower than these links were measured to be",
                evidence=[Evidence(_sentence(one), Collectives.id) for one in slow[:_LISTED]],
                confirm="Run nccl-tests of this kind and size on these hosts now: as slow as here, a link or its "
                "transport is at fault; as fast as the curve, look for other traffic.",
                confidence=Confidence.MEDIUM,
            )


RULE = Rule("slow_link", find_slow_link)


def _slow(rows: Iterable[CollectiveRow]) -> Iterator[_Slow]:
    for row in rows:
        reached, ceiling = row.busbw_bytes_per_s, row.ceiling_bytes_per_s
        if reached is None or ceiling is None or row.ceiling_level is Level.DATA_SHEET:
            continue
        # beside computing a transfer is contended: it may have stood still then, and the link is not to blame
        if reached < SLOW_LINK_FRAC * ceiling * (1 - (row.contended_frac or 0.0)):
            yield _Slow(row, reached / ceiling)


def _lost_per_step_ns(slow: Iterable[_Slow], report: LossReport, results: ResultSet) -> float:
    """What they lose in a stretch of mean length, for collectives are those of the whole window."""
    gpu_time = results.get(GpuTime)
    assert not isinstance(gpu_time, Skipped), "what is lost is lost on a GPU"
    window_ns = max(gpu.time.window_ns for gpu in gpu_time.gpus)
    return sum(one.lost_ns for one in slow) * report.stretch_ns / window_ns


def _of_link(loss: Loss, lost_ns: float) -> Loss:
    """The exposed transfers that faster links would spare: no more than they lose, and than is exposed."""
    return msgspec.structs.replace(loss, cause=SLOW_LINK, recoverable_ns=min(loss.recoverable_ns, round(lost_ns)))


def _sentence(slow: _Slow) -> str:
    row = slow.row
    size = "" if row.bytes is None else f" of {format_bytes(row.bytes)}"
    nodes = "" if row.nodes is None else f" on {counted(row.nodes, 'node')}"
    reached, ceiling = format_rate(row.busbw_bytes_per_s or 0), format_rate(row.ceiling_bytes_per_s or 0)
    return (
        f"{spelled(row.kind)}{size} over {counted(len(row.ranks), 'rank')}{nodes}: busbw {reached}, "
        f"{format_fraction(slow.reached_frac)} of {ceiling} ({row.ceiling_source})."
    )
