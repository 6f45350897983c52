"""Moments of a session on the command line: ``12.5`` or ``12.5s``, ``800ms``, ``30us``, ``1500ns``."""

from __future__ import annotations

import re
from decimal import Decimal

import click

from nsysan.model.units import NS_PER_MS, NS_PER_S, NS_PER_US

_UNITS = {"": NS_PER_S, "s": NS_PER_S, "ms": NS_PER_MS, "us": NS_PER_US, "µs": NS_PER_US, "ns": 1}
_SPELLING = re.compile(r"(-?\d{1,12}(?:\.\d{1,9})?)\s*(s|ms|us|µs|ns)?", re.ASCII)


class SessionTime(click.ParamType):
    """A time since session start, in ns; a bare number is seconds, as on the ruler of the Nsight Systems GUI."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The time in ns. Fails where the text is no time, or finer than a ns."""
        if isinstance(value, int):
            return value
        match = _SPELLING.fullmatch(str(value).strip())
        if match is None:
            self.fail(f"{value!r} is no time; write 12.5s, 800ms, 30us or 1500ns.", param, ctx)
        time_ns = Decimal(match[1]) * _UNITS[match[2] or ""]
        if time_ns != time_ns.to_integral_value():
            self.fail(f"{value!r} is finer than a nanosecond.", param, ctx)
        return int(time_ns)
