"""Traces of PyTorch's profiler, for the shapes of operators that a trace of Nsight Systems lacks."""

from __future__ import annotations

from pathlib import Path

from nsysan.ingest.evidence.kind import EvidenceKind
from nsysan.ingest.reader import Candidate, ReadOptions
from nsysan.ingest.torch.opening import begins_like_a_trace
from nsysan.ingest.torch.trace import read_torch_trace
from nsysan.model.evidence import EvidenceItem
from nsysan.model.profiled import ProfiledTrace

_ID = "torch_profile"


def _read(path: Path, name: str) -> tuple[EvidenceItem, ...]:
    candidate = Candidate(path, is_folder=False, size_bytes=path.stat().st_size, head=b"")
    return (ProfiledTrace(name, read_torch_trace(candidate, _ID, ReadOptions()).trace),)


KIND = EvidenceKind(_ID, "traces of PyTorch's profiler", begins_like_a_trace, _read)
