"""Exports of nsys reports as JSON, for the payloads that other exports of nsys 2023.4 and before leave out."""

from __future__ import annotations

from pathlib import Path

from nsysan.ingest.evidence.kind import EvidenceKind
from nsysan.ingest.nsys.event_json import begins_like_events, read_event_json
from nsysan.model.evidence import EvidenceItem


def _read(path: Path, name: str) -> tuple[EvidenceItem, ...]:
    return (read_event_json(path, name),)


KIND = EvidenceKind("nsys_json", "exports of nsys -t json", begins_like_events, _read)
