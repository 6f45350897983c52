"""What a format of lines is, and which there are."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nsysan.ingest.training_log import formats
from nsysan.model.registry import discover
from nsysan.model.training_log import LogFormat, LoggedStep
from nsysan.model.units import NS_PER_S


class LineFormat(msgspec.Struct, frozen=True):
    """``reader`` makes what turns lines that have one of the ``marks``, in order, into steps.

    It answers None for a line that tells of no step. Times of day are added for it; ``resolution_ns`` is what its own
    times are rounded to.
    """

    id: LogFormat
    marks: tuple[bytes, ...]
    reader: Callable[[], Callable[[str], LoggedStep | None]]
    resolution_ns: int = NS_PER_S


def line_formats() -> tuple[LineFormat, ...]:
    """Every format, in order of module name."""
    return discover(formats, "FORMAT", LineFormat)
