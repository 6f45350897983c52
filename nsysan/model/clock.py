"""The time of day as documents have it."""

from __future__ import annotations

from datetime import datetime, timezone


def now_utc() -> str:
    """The time now, to the second: ``2026-11-30T09:05:00Z``."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
