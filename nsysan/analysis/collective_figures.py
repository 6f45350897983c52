"""Collectives as figures to compare: transfer apart from waiting, by what is the same in every run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.prose import spelled
from nsysan.model.units import counted, format_bytes

COLLECTIVE_TRANSFERS = Topic("collective_transfers", "Transfer of a collective, mean over complete ones")
COLLECTIVE_WAITS = Topic("collective_waits", "Wait of a rank for a collective, mean over ranks and complete ones")
COLLECTIVE_RUNS = Topic("collective_runs", "Collectives in the windows")


def collective_figures(rows: Sequence[CollectiveRow]) -> Iterator[Figure]:
    """Mean transfer, mean wait a rank, and count, of the collectives alike in kind, purpose, number of ranks and size.

    Communicators have other names in every run, so those that are alike are put together.
    """
    alike: defaultdict[str, list[CollectiveRow]] = defaultdict(list)
    for row in rows:
        alike[_name(row)].append(row)
    for name, same in alike.items():
        known = [row for row in same if row.transfer_ns is not None and row.complete_count]
        if known:
            count = sum(row.complete_count for row in known)
            mean_ns = sum(row.transfer_ns or 0 for row in known) / count
            yield Figure(COLLECTIVE_TRANSFERS, name, name, mean_ns, Unit.NS, Better.LESS)
    for name, same in alike.items():
        waited = [row for row in same if row.wait_ns is not None and row.complete_count and row.ranks]
        if waited:
            share_count = sum(row.complete_count * len(row.ranks) for row in waited)
            mean_ns = sum(row.wait_ns or 0 for row in waited) / share_count
            yield Figure(COLLECTIVE_WAITS, name, name, mean_ns, Unit.NS, Better.LESS)
    for name, same in alike.items():
        yield Figure(COLLECTIVE_RUNS, name, name, sum(row.count for row in same), Unit.COUNT)


def _name(row: CollectiveRow) -> str:
    parts = (
        spelled(row.kind),
        None if row.purpose is None else f"({row.purpose.value})",
        f"over {counted(len(row.ranks), 'rank')}",
        None if row.stage is None else f"in {spelled(row.stage.value)}",
        None if row.bytes is None else f"of {format_bytes(row.bytes)}",
    )
    return " ".join(part for part in parts if part is not None)
