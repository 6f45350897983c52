"""What records traces, and how to record again with each."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum


class Profiler(Enum):
    """What recorded a trace; the value is what it is called."""

    NSYS = "Nsight Systems"
    TORCH = "PyTorch's profiler"


def profiler_of(reader: str) -> Profiler:
    """The profiler whose traces the reader of this id reads."""
    return Profiler.TORCH if reader == "torch_profile" else Profiler.NSYS


BOTH_ACTIVITIES = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
"""The argument of ``torch.profiler.profile`` without which no trace holds both host and GPU."""


@dataclass(frozen=True, slots=True)
class Recapture:
    """What to record with either profiler to have a question answered, each a sentence."""

    nsys: str
    torch: str

    def by(self, profilers: Collection[Profiler]) -> str:
        """The sentence for the profiler that was used, or both where several were."""
        sentences = {Profiler.NSYS: self.nsys, Profiler.TORCH: self.torch}
        used = [profiler for profiler in Profiler if profiler in profilers] or [Profiler.NSYS]
        if len(used) == 1:
            return sentences[used[0]]
        return " ".join(f"With {profiler.value}: {sentences[profiler]}" for profiler in used)


RECORD_HOST = Recapture(
    nsys="Record with -t cuda,nvtx.",
    torch=f"Record with torch.profiler: profile({BOTH_ACTIVITIES}, ...).",
)
"""What records ranges and CUDA calls."""
