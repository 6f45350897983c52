"""Kineto's times, microseconds with up to three decimals, as exact nanoseconds."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, Decimal, InvalidOperation

LATEST_NS = 1 << 62
"""Times beyond this, over 146 years from their zero, are no times; within, differences are int64."""

_LARGEST_EXPONENT = 18
_NS_DIGITS = 3


def nanoseconds(microseconds: object) -> int:
    """A number of microseconds, as ``JsonStream`` yields it, in ns; less than a ns is rounded to the even one.

    Raises ValueError where it is no number, or none that a time can be.
    """
    if type(microseconds) is int:
        time_ns = microseconds * 1000
    elif type(microseconds) is bytes:
        whole, _, fraction = microseconds.partition(b".")
        plain = fraction.isdigit() and len(fraction) <= _NS_DIGITS
        time_ns = int(whole + fraction.ljust(_NS_DIGITS, b"0")) if plain else _rounded(microseconds.decode())
    else:
        raise ValueError("a time is no number")
    return _in_range(time_ns)


def start_and_end_ns(event: Mapping[str, object]) -> tuple[int, int]:
    """When a complete event begins and ends. Raises ValueError where it does not say."""
    if event.get("ph") != "X":
        raise ValueError("not a complete event")
    start_ns = nanoseconds(event.get("ts"))
    return start_ns, _in_range(start_ns + nanoseconds(event.get("dur")))


def moment_ns(event: Mapping[str, object]) -> tuple[int, int]:
    """When an event without length begins and ends. Raises ValueError where it does not say."""
    time_ns = nanoseconds(event.get("ts"))
    return time_ns, time_ns


def _in_range(time_ns: int) -> int:
    if not -LATEST_NS < time_ns < LATEST_NS:
        raise ValueError("a time is out of range")
    return time_ns


def _rounded(text: str) -> int:
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise ValueError("a time is out of range") from error
    if number.adjusted() > _LARGEST_EXPONENT:
        raise ValueError("a time is out of range")
    return int(number.scaleb(_NS_DIGITS).to_integral_value(ROUND_HALF_EVEN))
