"""Addresses as clients give them, of which some are none."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit


def parts_of_address(given: str) -> SplitResult | None:
    """The parts of an address, None where its host or port can be none."""
    try:
        parts = urlsplit(given)
        _ = parts.port  # looked at only where it is asked for
    except ValueError:
        return None
    return parts
