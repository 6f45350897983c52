"""What the rows of a test tell together: its collective and exact rates; and the version behind a number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec.structs import replace

from nsysan.model.kernels import Collective, collective_called
from nsysan.model.nccl_tests import NcclTestRow
from nsysan.model.units import NS_PER_S

_NAME = re.compile(r"\b(?P<name>[a-z_]+)_perf\b")
_TELLING_BYTES_PER_S = 10e9
"""From here on the two decimals of the table tell a ratio to 0.1 %."""
_CUT_OFF_BELOW_BYTES_PER_S = 1e9
"""Below that two decimals are less than three digits."""
_RATIO_TOLERANCE = 0.005
_FEWEST_RANKS = 3
"""Of two ranks an all-reduce has the factor of a broadcast."""


def kind_in(text: str) -> Collective | None:
    """The collective of the test that the text names."""
    found = _NAME.search(text)
    return None if found is None else collective_called(found["name"])


def kind_by_ratio(rows: Sequence[NcclTestRow], rank_count: int | None) -> Collective | None:
    """An all-reduce, where busbw over algbw is 2(n-1)/n, which no other collective has; else None."""
    telling = [row for row in rows if row.algbw_bytes_per_s >= _TELLING_BYTES_PER_S]
    if rank_count is None or rank_count < _FEWEST_RANKS or not telling:
        return None
    factor = 2 * (rank_count - 1) / rank_count
    ratios = [row.busbw_bytes_per_s / row.algbw_bytes_per_s for row in telling]
    agree = all(abs(ratio / factor - 1) <= _RATIO_TOLERANCE for ratio in ratios)
    return Collective.ALL_REDUCE if agree else None


def with_exact_rates(rows: Sequence[NcclTestRow]) -> tuple[NcclTestRow, ...]:
    """The rows with the rates that two decimals of GB/s cut off worked out anew from size and time.

    What busbw is of algbw is the same at every size: it is told by the row of the highest rate, if that tells it well.
    """
    fastest = max(rows, key=lambda row: row.algbw_bytes_per_s)
    if fastest.algbw_bytes_per_s < _TELLING_BYTES_PER_S:
        return tuple(rows)
    factor = fastest.busbw_bytes_per_s / fastest.algbw_bytes_per_s
    return tuple(_with_exact_rates(row, factor) for row in rows)


def _with_exact_rates(row: NcclTestRow, factor: float) -> NcclTestRow:
    if row.algbw_bytes_per_s >= _CUT_OFF_BELOW_BYTES_PER_S or row.time_ns <= 0:
        return row
    algbw = row.size_bytes * NS_PER_S / row.time_ns
    return replace(row, algbw_bytes_per_s=algbw, busbw_bytes_per_s=algbw * factor)


def version_of(code: int) -> str | None:
    """``NCCL_VERSION_CODE`` as it is written: 22703 is 2.27.3, and before 2.9 2708 was 2.7.8."""
    if code <= 0:
        return None
    major_step, minor_step = (1000, 100) if code < 10_000 else (10_000, 100)  # noqa: PLR2004 -- NCCL's own border
    return f"{code // major_step}.{code % major_step // minor_step}.{code % minor_step}"
