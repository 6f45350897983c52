"""The time of day as the ledger keeps it: UTC text that sorts as it passes."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

_FORMAT = "%Y-%m-%dT%H:%M:%S.%fZ"


def now_utc(later_s: float = 0.0) -> str:
    """The time now, or so many seconds later, to the microsecond."""
    return (datetime.now(timezone.utc) + timedelta(seconds=later_s)).strftime(_FORMAT)


def seconds_between(begin_utc: str, end_utc: str) -> float:
    """How long it is from one time of ``now_utc`` to another, in seconds."""
    begin, end = (datetime.strptime(text, _FORMAT).replace(tzinfo=timezone.utc) for text in (begin_utc, end_utc))
    return (end - begin).total_seconds()


def shown_utc(moment_utc: str) -> str:
    """A time of ``now_utc`` to the minute, for people."""
    return f"{moment_utc[:10]} {moment_utc[11:16]} UTC"
