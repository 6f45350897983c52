"""A series of operations, and what its instances waited."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.attribution.collectives.series import Series
from nsysan.attribution.collectives.waiting import Waits
from nsysan.model.arrays import Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A series with what is known of its complete instances; ``waits`` is null where nothing is."""

    series: Series
    complete_table: Int64Array
    waits: Waits | None
