"""Logs of NCCL."""

from __future__ import annotations

from pathlib import Path

from nsysan.ingest.evidence.kind import EvidenceKind
from nsysan.ingest.nccl_log.reading import MARKS, read_nccl_log
from nsysan.model.evidence import EvidenceItem


def _recognise(sample: bytes) -> bool:
    return MARKS.search(sample) is not None


def _read(path: Path, name: str) -> tuple[EvidenceItem, ...]:
    return (read_nccl_log(path, name),)


KIND = EvidenceKind("nccl_log", "logs of NCCL (NCCL_DEBUG=INFO)", _recognise, _read)
