"""Who waited for whom, as a shaded table: a row a rank that waited, a column a rank that it waited for."""

from __future__ import annotations

from collections import Counter

from nsysan.analysis.rank_waits import SHOWN_AWAITED, SHOWN_WAITING, RankWaits
from nsysan.model.thresholds import TIE_NS
from nsysan.model.units import format_duration
from nsysan.report.heat_map import LEVELS, HeatColumn, HeatMap, Shade
from nsysan.report.terms import TERMS


def wait_map(found: RankWaits) -> HeatMap | None:
    """The ranks that are waited for most by those that wait most; None where nobody waits for anybody.

    Where there are more, these stand worst first below a row that sums all.
    """
    waits_ns = {(pair.rank, pair.awaited_rank): pair.wait_ns for pair in found.rank_waits}
    if not waits_ns:
        return None
    awaited = [one.rank for one in found.awaited_ranks] or _most(
        [(pair.awaited_rank, pair.wait_ns) for pair in found.rank_waits], SHOWN_AWAITED
    )
    waiting = _most(
        [(pair.rank, pair.wait_ns) for pair in found.rank_waits if pair.awaited_rank in awaited], SHOWN_WAITING
    )
    shown_ns = sum(waits_ns.get((rank, other), 0) for rank in waiting for other in awaited)
    hidden_ns = sum(waits_ns.values()) + found.rank_waits_omitted_ns - shown_ns
    if not hidden_ns:
        awaited, waiting = sorted(awaited), sorted(waiting)
    longest_ns = max(waits_ns.values())
    rows = [
        (f"rank {rank}", tuple(_shade(waits_ns.get((rank, other), 0), longest_ns) for other in awaited))
        for rank in waiting
    ]
    return HeatMap(
        id="wait-map",
        caption="Who waited for whom: the rank of the row for that of the column",
        row_label="Rank",
        columns=tuple(
            HeatColumn(f"for rank {other}", TERMS["collective_wait"], "communication", "ns") for other in awaited
        ),
        rows=(*(_sums(found) if hidden_ns else ()), *rows),
        note=_note(hidden_ns),
        source="rank_waits[] and awaited_ranks[]",
    )


def _sums(found: RankWaits) -> tuple[tuple[str, tuple[Shade, ...]], ...]:
    """A row of what all ranks waited, which has no shade: it would outshine every other."""
    totals = tuple(Shade(format_duration(one.wait_ns), one.wait_ns, "communication", 0) for one in found.awaited_ranks)
    return (("all ranks", totals),) if totals else ()


def _most(waits: list[tuple[int, int]], limit: int) -> list[int]:
    """The ranks with the longest sums, the longest first."""
    totals: Counter[int] = Counter()
    for rank, wait_ns in waits:
        totals[rank] += wait_ns
    return sorted(totals, key=lambda rank: (-totals[rank], rank))[:limit]


def _shade(wait_ns: int, longest_ns: int) -> Shade:
    if not wait_ns:
        return Shade("-", 0, "communication", 0)
    return Shade(format_duration(wait_ns), wait_ns, "communication", max(round(wait_ns / longest_ns * LEVELS), 1))


def _note(hidden_ns: int) -> str:
    """Why the waits are fewer than those in all, and what is left out."""
    tied = f"Where all come within {format_duration(TIE_NS)}, nobody is waited for."
    if not hidden_ns:
        return tied
    return f"{tied} The worst come first; other waits, {format_duration(hidden_ns)} in all, are not shown."
