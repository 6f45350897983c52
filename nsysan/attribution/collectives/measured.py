"""A series of operations, and what its instances waited."""

from __future__ import annotations

import msgspec

from nsysan.attribution.collectives.series import Series
from nsysan.attribution.collectives.waiting import Waits
from nsysan.model.arrays import Int64Array


class Measured(msgspec.Struct, frozen=True, eq=False):
    """A series with what is known of its complete instances; ``waits`` is null where nothing is."""

    series: Series
    complete_table: Int64Array
    waits: Waits | None
