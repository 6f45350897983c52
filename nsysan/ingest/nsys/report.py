"""The first bytes of a .nsys-rep: that it is one, and which nsys recorded it."""

from __future__ import annotations

import re

from nsysan.ingest.nsys.installation import Version

MAGIC = b"NVIDIA Tegra Profiler Report "
_COLLECTOR = re.compile(re.escape(MAGIC) + rb"(\d{1,9})@(\d{1,9})@(\d{1,9})@(\d{1,9})")


def collector_version(head: bytes) -> Version | None:
    """The version of the nsys that recorded the report, or None where its first bytes do not say."""
    match = _COLLECTOR.match(head)
    return None if match is None else tuple(int(number) for number in match.groups())
