"""Moments of a session on the command line: ``12.5`` or ``12.5s``, ``800ms``, ``30us``, ``1500ns``."""

from __future__ import annotations

import re
from decimal import Decimal

import click

from nsysan.model.units import NS_PER_MS, NS_PER_S, NS_PER_US

_UNITS = {"": NS_PER_S, "s": NS_PER_S, "ms": NS_PER_MS, "us": NS_PER_US, "µs": NS_PER_US, "ns": 1}
_LIMIT_NS = 1 << 62
"""146 years: the sum of two such times is still an int64."""
_SPELLING = re.compile(r"(-?\d{1,18}(?:\.\d{1,9})?)\s*(s|ms|us|µs|ns)?", re.ASCII)


def session_time(text: str) -> int:
    """The time since session start in ns; a bare number is seconds, as on the ruler of the Nsight Systems GUI.

    Raises click.BadParameter where the text is no time, finer than a nanosecond, or beyond 146 years.
    """
    match = _SPELLING.fullmatch(text.strip())
    if match is None:
        raise click.BadParameter(f"{text!r} is no time; write 12.5s, 800ms, 30us or 1500ns.")
    time_ns = Decimal(match[1]) * _UNITS[match[2] or ""]
    if time_ns != time_ns.to_integral_value():
        raise click.BadParameter(f"{text!r} is finer than a nanosecond.")
    if abs(time_ns) >= _LIMIT_NS:
        raise click.BadParameter(f"{text!r} is longer than any session.")
    return int(time_ns)
