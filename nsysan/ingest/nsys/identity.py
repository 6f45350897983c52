"""What an export says about people and machines. Environment variables are never among it: they are not kept."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import CAPTURE_SETTINGS, SYSTEM_PROPERTIES
from nsysan.ingest.source import known_text, text
from nsysan.model.trace import CaptureIdentity

_ARGUMENT = re.compile(r"PROCESS_0:ARGUMENT_(\d{1,6})")
_WANTED_SETTING = re.compile(rf"PROCESS_0:(USER_NAME|COMMAND)|{_ARGUMENT.pattern}")


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
    properties = export.rows(SYSTEM_PROPERTIES, "name", "value")
    return next((known_text(value) for name, value in properties if text(name) == "Hostname"), None)


def _capture_settings(export: OpenExport) -> dict[str, str]:
    found = ((text(name), value) for name, value in export.rows(CAPTURE_SETTINGS, "name", "value"))
    wanted = ((name, text(value)) for name, value in found if name is not None and _WANTED_SETTING.fullmatch(name))
    return {name: value for name, value in wanted if value is not None}


def _command_line(settings: dict[str, str]) -> str | None:
    if "PROCESS_0:COMMAND" not in settings:
        return None
    arguments = {int(match[1]): value for name, value in settings.items() if (match := _ARGUMENT.fullmatch(name))}
    return shlex.join([settings["PROCESS_0:COMMAND"], *(arguments[index] for index in sorted(arguments))])
