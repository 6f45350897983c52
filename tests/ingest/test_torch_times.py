"""Kineto's decimal microseconds are exact nanoseconds, where a float would round them."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.ingest.torch.times import LATEST_NS, nanoseconds


@pytest.mark.parametrize(
    ("microseconds", "time_ns"),
    [
        (b"4212936085387.172", 4_212_936_085_387_172),
        # as a float this is 1719853884000000.2
        (b"1719853884000000.123", 1_719_853_884_000_000_123),
        (b"0.5", 500),
        (b"-0.5", -500),
        (1_719_853_884_000_000, 1_719_853_884_000_000_000),
        (b"1.5e3", 1_500_000),
        (b"12.0004", 12_000),
        (b"12.0005", 12_000),
        (b"12.0015", 12_002),
        (b"1e-400", 0),
    ],
)
def test_known_times(microseconds: object, time_ns: int) -> None:
    assert nanoseconds(microseconds) == time_ns


@pytest.mark.parametrize("value", [None, True, "5", [], {}, 10**20, b"1e999999999", b"-1e19", b"9" * 5000 + b".5"])
def test_what_is_no_time(value: object) -> None:
    with pytest.raises(ValueError, match=r".+"):
        nanoseconds(value)


@given(st.integers(1 - LATEST_NS, LATEST_NS - 1))
def test_every_nanosecond_comes_back(time_ns: int) -> None:
    assert nanoseconds(f"{Decimal(time_ns).scaleb(-3):f}".encode()) == time_ns
