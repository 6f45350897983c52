"""Where a log of NCCL tells a timing, in words."""

from __future__ import annotations

from nsysan.analysis.nccl_logs import NcclLogSummary, TimingInLog
from nsysan.model.prose import spelled
from nsysan.model.units import counted


def place_of_timing(log: NcclLogSummary, timing: TimingInLog) -> str:
    """``nccl.log, line 12: all reduce over 128 ranks``."""
    ranks = counted(timing.rank_count or 0, "rank")
    return f"{log.name}, line {timing.first_line}: {spelled(timing.kind)} over {ranks}"
