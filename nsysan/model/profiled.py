"""A trace of PyTorch's profiler as evidence beside traces of Nsight Systems, of the same run or another."""

from __future__ import annotations

from nsysan.model.evidence import EvidenceItem
from nsysan.model.trace import Trace


class ProfiledTrace(EvidenceItem, frozen=True):
    """What the profiler recorded. Its times are of its own run; what it tells of operators may hold for others."""

    trace: Trace
