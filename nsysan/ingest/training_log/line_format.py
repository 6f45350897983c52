"""What a format of lines is, and which there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from nsysan.ingest.training_log import formats
from nsysan.model.registry import discover
from nsysan.model.training_log import LogFormat, LoggedStep


@dataclass(frozen=True, slots=True)
class LineFormat:
    """``reader`` makes what turns lines that have one of the ``marks``, in order, into steps.

    It answers None for a line that tells of no step. Times of day are added for it.
    """

    id: LogFormat
    marks: tuple[bytes, ...]
    reader: Callable[[], Callable[[str], LoggedStep | None]]


def line_formats() -> tuple[LineFormat, ...]:
    """Every format, in order of module name."""
    return discover(formats, "FORMAT", LineFormat)
