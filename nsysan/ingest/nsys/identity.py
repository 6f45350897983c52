"""What an export says about people and machines. Environment variables are never among it: they are not read."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import CAPTURE_SETTINGS, SYSTEM_PROPERTIES
from nsysan.ingest.sqlite.tables import known_text, text
from nsysan.model.trace import CaptureIdentity

_ARGUMENT = re.compile(r"PROCESS_0:ARGUMENT_(\d{1,6})")
_HOST_QUERY = f"SELECT value FROM {SYSTEM_PROPERTIES} WHERE name = 'Hostname' LIMIT 1"  # noqa: S608 -- a constant
_SETTINGS_QUERY = (
    f"SELECT name, value FROM {CAPTURE_SETTINGS} "  # noqa: S608 -- a constant
    "WHERE name IN ('PROCESS_0:USER_NAME', 'PROCESS_0:COMMAND') OR name GLOB 'PROCESS_0:ARGUMENT_[0-9]*'"
)


def read_identity(export: OpenExport, path: Path) -> CaptureIdentity:
    """Host, user and command line of the first process that nsys launched; ``path`` is that of the report."""
    settings = _capture_settings(export)
    return CaptureIdentity(
        host=_host(export),
        user=settings.get("PROCESS_0:USER_NAME") or None,
        command_line=_command_line(settings),
        path=str(path),
    )


def _host(export: OpenExport) -> str | None:
    if not _has(export, SYSTEM_PROPERTIES):
        return None
    row = export.connection.execute(_HOST_QUERY).fetchone()
    return None if row is None else known_text(row[0])


def _capture_settings(export: OpenExport) -> dict[str, str]:
    if not _has(export, CAPTURE_SETTINGS):
        return {}
    found = ((text(name), text(value)) for name, value in export.connection.execute(_SETTINGS_QUERY))
    return {name: value for name, value in found if name is not None and value is not None}


def _has(export: OpenExport, name: str) -> bool:
    table = export.tables.get(name)
    return table is not None and {"name", "value"} <= table.columns


def _command_line(settings: dict[str, str]) -> str | None:
    if "PROCESS_0:COMMAND" not in settings:
        return None
    arguments = {int(match[1]): value for name, value in settings.items() if (match := _ARGUMENT.fullmatch(name))}
    return shlex.join([settings["PROCESS_0:COMMAND"], *(arguments[index] for index in sorted(arguments))])
