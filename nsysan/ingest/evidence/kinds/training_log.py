"""Logs of training: Megatron, NeMo, DeepSpeed, torchtitan, the bars of HF Trainer and Lightning, and timers."""

from __future__ import annotations

from pathlib import Path

from nsysan.ingest.evidence.kind import EvidenceKind
from nsysan.ingest.training_log.reading import read_training_log, tells_of_steps
from nsysan.model.evidence import EvidenceItem


def _read(path: Path, name: str) -> tuple[EvidenceItem, ...]:
    found = read_training_log(path, name)
    return () if found is None else (found,)


KIND = EvidenceKind(
    "training_log",
    "logs of training (Megatron, NeMo, DeepSpeed, torchtitan, HF Trainer, Lightning, timers in JSON lines)",
    tells_of_steps,
    _read,
)
