"""Who waited for whom, and how long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.of_reports import OfReport
from nsysan.analysis.registry import Analysis
from nsysan.attribution.collectives.charging import charged_waits
from nsysan.attribution.job import Job
from nsysan.model.arrays import Int64Array
from nsysan.model.results import ResultSet, Skipped

SHOWN_PAIRS = 1024
SHOWN_AWAITED = 12
SHOWN_WAITING = 32
"""Between so many ranks that were waited for most, and so many that waited most, every pair is shown."""


class RankWait(msgspec.Struct, frozen=True):
    """``rank`` waited ``wait_ns`` for ``awaited_rank``, over all complete instances of both."""

    rank: int
    awaited_rank: int
    wait_ns: int


class AwaitedRank(msgspec.Struct, frozen=True):
    """A rank that ``waiting_count`` others waited for, ``wait_ns`` in all."""

    rank: int
    waiting_count: int
    wait_ns: int


class RankWaits(msgspec.Struct, frozen=True):
    """The pairs of ranks of which one waited for the other, the longest first; the omitted ones waited so long.

    ``awaited_ranks`` are those that all others together waited for longest, over the omitted pairs too.
    """

    id: ClassVar[str] = "rank_waits"

    rank_waits: tuple[RankWait, ...]
    rank_waits_omitted_ns: int
    awaited_ranks: tuple[AwaitedRank, ...] = ()


def compute_rank_waits(job: Job, results: ResultSet) -> RankWaits | Skipped:
    """The waits by who waited for whom, none where no wait is known; skipped where collectives are."""
    collectives = results.get(Collectives)
    if isinstance(collectives, Skipped):
        return Skipped(RankWaits.id, collectives.reason, collectives.recapture)
    found = job.collectives
    return _summary(charged_waits(found.measured, len(found.members)), np.array(found.ranks.of_member, np.int64))


def merge_rank_waits(job: Job, results: ResultSet, _parts: Sequence[OfReport]) -> RankWaits | Skipped:
    """The waits between the ranks of all reports, of which the job's collectives tell."""
    return compute_rank_waits(job, results)


ANALYSIS = Analysis(RankWaits, compute_rank_waits, needs=(Collectives,), merge=merge_rank_waits, of_communication=True)


def _summary(waits_ns: Int64Array, ranks: Int64Array) -> RankWaits:
    """The longest of these waits (rows: who waited, columns: for whom), and whom all waited for."""
    in_order = np.argsort(ranks)
    waits_ns, ranks = waits_ns[np.ix_(in_order, in_order)], ranks[in_order]
    awaited = _largest(waits_ns.sum(axis=0), SHOWN_AWAITED)
    is_mapped = np.zeros(waits_ns.shape, np.bool_)
    is_mapped[np.ix_(_largest(waits_ns[:, awaited].sum(axis=1), SHOWN_WAITING), awaited)] = True
    rows, columns = np.nonzero(waits_ns)
    times_ns = waits_ns[rows, columns]
    chosen = np.lexsort((-times_ns, ~is_mapped[rows, columns]))[:SHOWN_PAIRS]
    chosen = chosen[np.lexsort((rows[chosen], columns[chosen], -times_ns[chosen]))]
    pairs = zip(ranks[rows[chosen]].tolist(), ranks[columns[chosen]].tolist(), times_ns[chosen].tolist(), strict=True)
    return RankWaits(
        rank_waits=tuple(RankWait(*pair) for pair in pairs),
        rank_waits_omitted_ns=int(times_ns.sum() - times_ns[chosen].sum()),
        awaited_ranks=tuple(
            AwaitedRank(int(ranks[place]), int(np.count_nonzero(waits_ns[:, place])), int(waits_ns[:, place].sum()))
            for place in awaited.tolist()
        ),
    )


def _largest(values: Int64Array, limit: int) -> Int64Array:
    """The places of the largest values that are not 0, the largest first."""
    places = np.argsort(-values, kind="stable")[:limit]
    return places[values[places] > 0]
