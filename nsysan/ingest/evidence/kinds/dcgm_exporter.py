"""Metrics of the DCGM exporter, as Prometheus scrapes them."""

from __future__ import annotations

from pathlib import Path

from nsysan.ingest.evidence.kind import EvidenceKind
from nsysan.ingest.gpu_samples.prometheus import MARK, read_prometheus
from nsysan.model.evidence import EvidenceItem


def _recognise(sample: bytes) -> bool:
    return MARK.search(sample) is not None


def _read(path: Path, name: str) -> tuple[EvidenceItem, ...]:
    return read_prometheus(path, name)


KIND = EvidenceKind("dcgm_exporter", "text metrics of the DCGM exporter", _recognise, _read)
