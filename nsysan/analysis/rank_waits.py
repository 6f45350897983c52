"""Who waited for whom, and how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.registry import Analysis
from nsysan.attribution.collectives.charging import charged_waits
from nsysan.attribution.job import Job
from nsysan.model.results import ResultSet, Skipped

SHOWN_PAIRS = 1024


@dataclass(frozen=True, slots=True)
class RankWait:
    """``rank`` waited ``wait_ns`` for ``awaited_rank``, over all complete instances of both."""

    rank: int
    awaited_rank: int
    wait_ns: int


@dataclass(frozen=True, slots=True)
class RankWaits:
    """The pairs of ranks of which one waited for the other, the longest first; the omitted ones waited so long."""

    id: ClassVar[str] = "rank_waits"

    rank_waits: tuple[RankWait, ...]
    rank_waits_omitted_ns: int


def compute_rank_waits(job: Job, results: ResultSet) -> RankWaits | Skipped:
    """The waits by who waited for whom, none where no wait is known; skipped where collectives are."""
    collectives = results.get(Collectives)
    if isinstance(collectives, Skipped):
        return Skipped(RankWaits.id, collectives.reason, collectives.recapture)
    rank_of = job.collectives.ranks.of_member
    pairs = [
        RankWait(rank_of[member], rank_of[awaited], wait_ns)
        for (member, awaited), wait_ns in charged_waits(job.collectives.measured).items()
    ]
    pairs.sort(key=lambda pair: (-pair.wait_ns, pair.awaited_rank, pair.rank))
    omitted_ns = sum(pair.wait_ns for pair in pairs[SHOWN_PAIRS:])
    return RankWaits(tuple(pairs[:SHOWN_PAIRS]), omitted_ns)


ANALYSIS = Analysis(RankWaits, compute_rank_waits, needs=(Collectives,))
