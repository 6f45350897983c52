"""Slurm's accounting."""

from __future__ import annotations

from pathlib import Path

from nsysan.ingest.evidence.kind import EvidenceKind
from nsysan.ingest.sacct import looks_like_sacct, read_sacct
from nsysan.model.evidence import EvidenceItem


def _read(path: Path, name: str) -> tuple[EvidenceItem, ...]:
    return read_sacct(path, name)


KIND = EvidenceKind("sacct", "tables of Slurm's sacct", looks_like_sacct, _read)
