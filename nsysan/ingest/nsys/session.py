"""When and with what an export was made, and what must be taken off its times."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import CAPTURE_DETAILS, EXPORT_SETTINGS, SESSION_START
from nsysan.ingest.source import integer, known_text
from nsysan.model.errors import InputError
from nsysan.model.tables import ABSENT

_TIME_SHIFT = "EXPORT_CONFIG_TIME_SHIFT"
_EARLIEST_EPOCH_NS = 10**18
"""September 2001: an earlier UTC time is that of a machine whose clock was not set."""


class Session(msgspec.Struct, frozen=True):
    """The session's begin and length, and the exporter's version; None where the export does not say.

    ``stated_shift_ns`` is what the exporter says that it added to every event: the UTC time of session start under
    ``--ts-normalize``, the user's number under ``--ts-shift``, their sum under both.
    """

    nsys_version: str | None
    export_schema: str | None
    stated_shift_ns: int | None
    capture_ns: int | None
    start_utc_ns: int | None

    def likely_shift_ns(self, mostly_start_after: Callable[[int], bool]) -> int:
        """What to take off every time where the export does not state it.

        ``mostly_start_after`` says whether the median of the records' starts lies past a time.
        Times were normalised to UTC where that median lies past the half of the session's UTC start: no session lasts
        the decades that would take otherwise, and the impossible times of a few damaged records do not move a median.
        """
        start_ns = self.start_utc_ns
        if start_ns is None or start_ns < _EARLIEST_EPOCH_NS:
            return 0
        return start_ns if mostly_start_after(start_ns // 2) else 0


def read_session(export: OpenExport) -> Session:
    """The session. Raises InputError where the time shift is no number: no event could be placed then."""
    settings = _export_settings(export)
    return Session(
        nsys_version=settings.get("EXPORT_PRODUCT_VERSION"),
        export_schema=settings.get("EXPORT_SCHEMA_VERSION"),
        stated_shift_ns=_stated_shift(settings.get(_TIME_SHIFT)),
        # a machine with several virtual machines has a row for each
        capture_ns=_largest(export, CAPTURE_DETAILS, "duration"),
        start_utc_ns=_largest(export, SESSION_START, "utcEpochNs"),
    )


def _export_settings(export: OpenExport) -> dict[str, str]:
    table = export.table(EXPORT_SETTINGS)
    found = iter(()) if table is None else export.rows(table.name, "name", "value")
    named = ((known_text(name), known_text(value)) for name, value in found)
    return {name: value for name, value in named if name is not None and value is not None}


def _stated_shift(setting: str | None) -> int | None:
    if setting is None:
        return None
    try:
        shift_ns = int(setting)
    except ValueError:
        shift_ns = ABSENT
    if abs(shift_ns) > -(ABSENT + 1):
        raise InputError(
            f"The export's {_TIME_SHIFT} is no number of nanoseconds.",
            "Export the report again without shifting its times: nsys export -t sqlite REPORT",
        )
    return shift_ns


def _largest(export: OpenExport, table: str, column: str) -> int | None:
    numbers = (integer(value) for (value,) in export.rows(table, column))
    return max((number for number in numbers if number is not None), default=None)
