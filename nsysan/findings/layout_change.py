"""What half as many ranks to share one thing would change, by formula and the rates of the links."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from nsysan.model.findings import Evidence
from nsysan.model.prose import spelled
from nsysan.model.purposes import Purpose
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import format_bytes, format_duration
from nsysan.planning.throughput import LayoutRow, Throughput


class LayoutChange(msgspec.Struct, frozen=True):
    """From the job's layout to another; ``spared_ns`` of transfer a step, negative where it takes longer."""

    own: LayoutRow
    other: LayoutRow
    spared_ns: int


def layout_change(results: ResultSet, purpose: Purpose) -> LayoutChange | None:
    """The change to half as many ranks for the purpose; None where the layout or a rate is not known."""
    found = results.get(Throughput)
    rows = () if isinstance(found, Skipped) else found.throughput.layouts
    own = next((row for row in rows if row.halved is None), None)
    other = next((row for row in rows if row.halved is purpose), None)
    if own is None or other is None or own.transfer_ns_per_step is None or other.transfer_ns_per_step is None:
        return None
    return LayoutChange(own, other, own.transfer_ns_per_step - other.transfer_ns_per_step)


def layout_evidence(results: ResultSet) -> Iterator[Evidence]:
    """For each change that spares transfer what it does to links and memory, the reason for advice to make it."""
    for purpose in Purpose:
        change = layout_change(results, purpose)
        if change is not None and change.spared_ns > 0:
            yield Evidence(_sentence(purpose, change), Throughput.id)


def _sentence(purpose: Purpose, change: LayoutChange) -> str:
    own, other = change.own, change.other
    what = f"{spelled(purpose.value)}ism"
    sent, instead = format_bytes(other.sent_bytes_per_step), format_bytes(own.sent_bytes_per_step)
    return (
        f"With {what} over half as many ranks a GPU sends {sent} a step in place of {instead} by formula, "
        f"{format_duration(change.spared_ns)} less at the rates of its links ({other.rate_source}), and holds "
        f"{format_bytes(other.held_bytes)} in place of {format_bytes(own.held_bytes)}."
    )
