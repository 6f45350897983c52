"""What records traces, and how to record again with each."""

from __future__ import annotations

from collections.abc import Collection
from enum import Enum

import msgspec


class Profiler(str, Enum):
    """What recorded a trace."""

    NSYS = "nsys"
    TORCH = "torch"

    @property
    def spoken_name(self) -> str:
        """What it is called."""
        return {Profiler.NSYS: "Nsight Systems", Profiler.TORCH: "PyTorch's profiler"}[self]


BOTH_ACTIVITIES = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
"""The argument of ``torch.profiler.profile`` without which no trace holds both host and GPU."""


class Recapture(msgspec.Struct, frozen=True):
    """What to record with either profiler to have a question answered, each a sentence."""

    nsys: str
    torch: str

    def by(self, profilers: Collection[Profiler]) -> str:
        """The sentence for the profiler that was used, or both where several were."""
        sentences = {Profiler.NSYS: self.nsys, Profiler.TORCH: self.torch}
        used = [profiler for profiler in Profiler if profiler in profilers] or [Profiler.NSYS]
        if len(used) == 1:
            return sentences[used[0]]
        return " ".join(f"With {profiler.spoken_name}: {sentences[profiler]}" for profiler in used)


RECORD_HOST = Recapture(
    nsys="Record with -t cuda,nvtx.",
    torch=f"Record with torch.profiler: profile({BOTH_ACTIVITIES}, ...).",
)
"""What records ranges and CUDA calls."""
