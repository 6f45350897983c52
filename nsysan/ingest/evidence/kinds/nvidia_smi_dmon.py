"""Tables of ``nvidia-smi dmon``."""

from __future__ import annotations

from pathlib import Path

from nsysan.ingest.evidence.kind import EvidenceKind
from nsysan.ingest.gpu_samples.dmon import read_dmon, tells_of_samples
from nsysan.model.evidence import EvidenceItem
from nsysan.model.gpu_samples import Monitor


def _recognise(sample: bytes) -> bool:
    return tells_of_samples(sample, Monitor.NVIDIA_SMI)


def _read(path: Path, name: str) -> tuple[EvidenceItem, ...]:
    return read_dmon(path, name, Monitor.NVIDIA_SMI)


KIND = EvidenceKind("nvidia_smi_dmon", "tables of nvidia-smi dmon", _recognise, _read)
