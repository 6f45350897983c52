"""Figures as programs write them: numbers in several notations, units of time, times of day and of stop watches."""

from __future__ import annotations

import re
from datetime import datetime

from nsysan.model.units import NS_PER_MS, NS_PER_S, NS_PER_US

NUMBER = r"[0-9](?:[0-9.,]{0,30}[0-9])?(?:[eE][+-]?[0-9]{1,2})?"
"""What ``number`` reads."""
_THOUSANDS = re.compile(r"[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?")
_CONTINENTAL = re.compile(r"[0-9]{1,3}(?:\.[0-9]{3})*,[0-9]+|[0-9]+,[0-9]+")
_PLAIN = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]{1,2})?")
_UNITS_NS = {"s": NS_PER_S, "sec": NS_PER_S, "secs": NS_PER_S, "seconds": NS_PER_S, "ms": NS_PER_MS, "us": NS_PER_US}
_STAMP = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})[ T](?P<time>[0-9]{2}:[0-9]{2}:[0-9]{2})(?:[.,](?P<rest>[0-9]{1,9}))?"
)
_WATCH = re.compile(
    r"(?:(?:(?P<days>[0-9]{1,4}) days?, |(?P<d>[0-9]{1,4})-)?(?P<h>[0-9]{1,5}):)?(?P<m>[0-9]{1,4}):(?P<s>[0-9]{2})"
)


def number(text: str) -> float | None:
    """The number; None where it is none.

    ``10,050`` is ten thousand: a comma before three digits parts thousands. ``5432,1`` and ``1.234,5`` have a decimal
    comma, as programs write it that follow a locale.
    """
    if _PLAIN.fullmatch(text):
        return float(text)
    if _THOUSANDS.fullmatch(text):
        return float(text.replace(",", ""))
    if _CONTINENTAL.fullmatch(text):
        return float(text.replace(".", "").replace(",", "."))
    return None


def in_ns(text: str, unit: str) -> float | None:
    """A positive time; None where it is no number, or the unit is not one of time: nothing is guessed."""
    value, factor = number(text), _UNITS_NS.get(unit)
    return value * factor if value and factor is not None else None


def stamp_ns(line: str) -> tuple[int, int] | None:
    """The first time of day with a date in a line, in ns, and what it is rounded to; of no time zone."""
    found = _STAMP.search(line)
    if found is None:
        return None
    try:
        moment = datetime.fromisoformat(f"{found['date']}T{found['time']}+00:00")
    except ValueError:
        return None
    rest = found["rest"] or ""
    rest_ns = int(rest.ljust(9, "0")) if rest else 0
    return int(moment.timestamp()) * NS_PER_S + rest_ns, 10 ** (9 - len(rest))


def watch_ns(text: str) -> int | None:
    """A stop watch's time: ``MM:SS``, ``H:MM:SS``, with ``D days, `` or ``D-`` before; None where it is none."""
    found = _WATCH.fullmatch(text)
    if found is None:
        return None
    days = int(found["days"] or found["d"] or 0)
    return (((days * 24 + int(found["h"] or 0)) * 60 + int(found["m"])) * 60 + int(found["s"])) * NS_PER_S
