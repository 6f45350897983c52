"""Metrics of the DCGM exporter in Prometheus' text format: one scrape, or several one after the other."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from nsysan.ingest.gpu_samples.fields import DCGM_EXPORTER, value_of
from nsysan.ingest.gpu_samples.recording import Entity, Recording
from nsysan.model.gpu_samples import GpuSamples, Monitor, Sampled

LONGEST_LINE_BYTES = 1 << 14
MARK = re.compile(rb"^DCGM_FI_[A-Z0-9_]{1,80}\{[^\n]{0,8000}\}[ \t]+\S", re.MULTILINE)
_LINE = re.compile(
    r"(?P<name>DCGM_FI_[A-Z0-9_]{1,80})\{(?P<labels>.*)\}[ \t]+(?P<value>\S+)(?:[ \t]+(?P<ms>[0-9]{1,15}))?$"
)
_LABEL = re.compile(r'([A-Za-z_][A-Za-z0-9_]{0,80})="((?:[^"\\]|\\.){0,400})"')
_NS_PER_MS = 1_000_000


class _Row(msgspec.Struct):
    """What a scrape tells of an entity, as far as it was read."""

    wall_ns: int | None = None
    values: dict[Sampled, float] = msgspec.field(default_factory=dict)


def read_prometheus(path: Path, name: str) -> tuple[GpuSamples, ...]:
    """The samples in a file, empty where it holds none. Raises OSError where it cannot be read."""
    reading = _Reading()
    with path.open("rb") as file:
        for piece in iter(lambda: file.readline(LONGEST_LINE_BYTES), b""):
            reading.take(piece.decode("utf-8", "replace").strip())
    found = reading.result().result(name)
    return () if found is None else (found,)


class _Reading:
    def __init__(self) -> None:
        self._recording = Recording(Monitor.DCGM_EXPORTER, 1)
        self._rows: dict[Entity, _Row] = {}

    def take(self, line: str) -> None:
        if not line.startswith("DCGM_FI_"):
            return
        found = _LINE.match(line)
        entity = None if found is None else _entity(dict(_LABEL.findall(found["labels"])))
        if found is None or entity is None:
            self._recording.malformed_count += 1
        elif (known := DCGM_EXPORTER.get(found["name"])) is not None:
            wall_ns = int(found["ms"]) * _NS_PER_MS if found["ms"] else None
            row = self._rows.setdefault(entity, _Row(wall_ns))
            if known.sampled in row.values or wall_ns != row.wall_ns:
                # the metric comes again: the next scrape
                self._recording.take(entity, row.values, row.wall_ns)
                row = self._rows[entity] = _Row(wall_ns)
            row.values[known.sampled] = value_of(known, found["value"])

    def result(self) -> Recording:
        for entity, row in self._rows.items():
            self._recording.take(entity, row.values, row.wall_ns)
        self._rows.clear()
        return self._recording


def _entity(labels: dict[str, str]) -> Entity | None:
    number, instance = labels.get("gpu", ""), labels.get("GPU_I_ID", "")
    if not (number.isdecimal() and len(number) <= 6):  # noqa: PLR2004 -- no host has a million
        return None
    is_instance = instance.isdecimal() and len(instance) <= 6  # noqa: PLR2004
    return Entity(
        number=int(number),
        instance=int(instance) if is_instance else None,
        host=labels.get("Hostname"),
        uuid=labels.get("UUID"),
    )
