"""What an export says about itself: who exported, what was captured where, and when the session began."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Literal

import msgspec

from nsysan.model.units import NS_PER_S
from nsysan.synth.session import JOB_START_UTC_NS
from nsysan.synth.tables import schema
from nsysan.synth.tables.database import Row
from nsysan.synth.tables.schema import Release

VM_GLOBAL_ID = 1 << 48
"""The serialized id of the first virtual machine."""
SYNTHETIC_MARK = "SYNTHESIZED_BY"
"""A record of META_DATA_EXPORT that real exports lack: a synthetic trace says that it is one."""
_HOST_NAME_PROPERTY = 619


class Capture(msgspec.Struct):
    """The session: where it ran, when it began, how long it took (``absent``: the export does not say)."""

    host: str | None = None
    utc_epoch_ns: int = JOB_START_UTC_NS
    duration_ns: int | Literal["absent"] | None = None
    environment: list[tuple[str, str]] = msgspec.field(default_factory=list)
    event_types: tuple[str, ...] = ("NvtxEvents", "Cuda")
    settings: list[tuple[str, str]] = msgspec.field(default_factory=list)
    includes_blobs: bool = False

    def tables(self, release: Release, last_event_ns: int) -> dict[str, list[Row]]:
        """The rows about the session; a duration of None ends it 1 ms after the last event."""
        start = datetime.fromtimestamp(self.utc_epoch_ns // NS_PER_S, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
        duration_ns = max(last_event_ns, 0) + 1_000_000 if self.duration_ns is None else self.duration_ns
        return {
            schema.SYSTEM_ENV: self._system_environment(),
            schema.SESSION_START: [(self.utc_epoch_ns, start, start)],
            schema.ANALYSIS_DETAILS: [] if duration_ns == "absent" else [(VM_GLOBAL_ID, duration_ns, 0, duration_ns)],
            schema.CAPTURE_SETTINGS: self._settings(),
            schema.EXPORT_SETTINGS: _export_settings(release, start) + self._inclusions(release),
        }

    def _system_environment(self) -> list[Row]:
        known = self.host is not None
        return [(VM_GLOBAL_ID, "Local (CLI)", "Hostname", _HOST_NAME_PROPERTY, self.host)] if known else []

    def _inclusions(self, release: Release) -> list[Row]:
        """What the newer exporter was told to add."""
        added = [("EXPORT_PARAM_INCLUDE_JSON", False), ("EXPORT_PARAM_INCLUDE_BLOBS", self.includes_blobs)]
        return [(name, str(included).lower()) for name, included in added if release.is_new]

    def _settings(self) -> list[Row]:
        variables = [("PROCESS_0:ENVIRONMENT_VARIABLE", f'{name}="{value}"') for name, value in self.environment]
        return [*(("CAPTURE_EVENT_TYPE", kind) for kind in self.event_types), *self.settings, *variables]


def _export_settings(release: Release, export_time: str) -> list[Row]:
    major, minor, micro = release.export_schema.split(".")
    return [
        ("EXPORT_PRODUCT_NAME", "NVIDIA Nsight Systems"),
        ("EXPORT_PRODUCT_VERSION", release.nsys_version),
        ("EXPORT_PRODUCT_DATE", ".".join(release.nsys_version.split(".")[:2])),
        ("EXPORT_SCHEMA_VERSION", release.export_schema),
        ("EXPORT_SCHEMA_VERSION_MAJOR", major),
        ("EXPORT_SCHEMA_VERSION_MINOR", minor),
        ("EXPORT_SCHEMA_VERSION_MICRO", micro),
        ("EXPORT_PLATFORM", "linux-desktop"),
        ("EXPORT_ARCH", "x64"),
        ("EXPORT_TIME_UTC", export_time),
        ("EXPORT_PARAM_LAZY", "true"),
        ("EXPORT_PARAM_TIME_NORMALIZE", "false"),
        ("EXPORT_PARAM_TIME_SHIFT", "0"),
        ("EXPORT_PARAM_TABLES_TO_EXPORT", ""),
        ("EXPORT_PARAM_TIMES_TO_EXPORT", ""),
        ("EXPORT_CONFIG_TIME_SHIFT", "0"),
        (SYNTHETIC_MARK, "nsysan synth"),
    ]
