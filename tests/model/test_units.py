"""Quantities as people read them."""

from __future__ import annotations

import pytest

from nsysan.model.units import (
    counted,
    format_bytes,
    format_count,
    format_duration,
    format_flop,
    format_fraction,
    format_rate,
    format_timestamp,
)


@pytest.mark.parametrize(
    ("duration_ns", "text"),
    [
        (0, "0 ns"),
        (12, "12 ns"),
        (12.5, "12.5 ns"),
        (3457, "3.457 µs"),
        (12_345_000, "12.345 ms"),
        (999_999_999, "1.000 s"),
        (999_999, "999.999 µs"),
        (2_500_000_000, "2.500 s"),
        (3_600_000_000_000, "3,600.000 s"),
    ],
)
def test_durations(duration_ns: float, text: str) -> None:
    assert format_duration(duration_ns) == text


def test_timestamps_are_exact() -> None:
    assert format_timestamp(60_111_541_307) == "60.111541307s"
    assert format_timestamp(-5) == "-0.000000005s"


def test_sizes_rates_shares_and_counts() -> None:
    assert format_bytes(7_195_376_640) == "7.195 GB"
    assert format_bytes(272) == "272 B"
    assert format_rate(24.31e9) == "24.310 GB/s"


def test_operations_have_decimal_units() -> None:
    """Six for each of 8,030,261,248 parameters: what a token of a model of that size costs at least."""
    assert format_flop(6 * 8_030_261_248) == "48.182 GFLOP"
    assert format_flop(1e15) == "1.000 PFLOP"
    assert format_flop(272) == "272 FLOP"
    assert format_fraction(0.8634) == "86.3 %"
    assert format_fraction(0) == "0.0 %"
    assert format_count(4010) == "4,010"
    assert (counted(1, "gap"), counted(2000, "gap")) == ("1 gap", "2,000 gaps")
