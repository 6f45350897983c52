"""Hand-sized traces around one gap, in microseconds, and the causes that are found for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from nsysan.attribution.job import build_job
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.attribution.window import WindowChoice

US = 1_000
OTHER_TID = 200
CALL_AND_HANDOVER = {"launch_latency": 11}
"""10 us inside the call, 1 us after it: it had not returned before the gap."""
LAUNCH = "cudaLaunchKernel_v7000"
PID = 100
GLOBAL_PID = 1 << 48 | PID << 24


class Trace(Export):
    """An export whose times are given in microseconds. It begins with a kernel that runs from 10 to 100 us."""

    def __init__(self, schema: str = "3.25") -> None:
        super().__init__(schema)
        self.launch(0, 5, runs=(10, 100))

    def launch(self, start: int, end: int, runs: tuple[int, int], name: str = LAUNCH, **where: object) -> Trace:
        """A call and the kernel that it launches; ``function`` is what that is called."""
        function, tid = str(where.get("function", "work")), where.get("tid")
        correlation = self._next()
        self.call(start * US, end * US, name, correlation=correlation, tid=tid if isinstance(tid, int) else None)
        self.kernel(runs[0] * US, runs[1] * US, function, correlation=correlation)
        return self

    def load(self, start: int, end: int, runs: tuple[int, int], name: str, size_bytes: int = 1 << 20) -> Trace:
        """A call and the copy to the device that it makes."""
        correlation = self._next()
        self.call(start * US, end * US, name, correlation=correlation)
        self.copy(runs[0] * US, runs[1] * US, size_bytes, correlation=correlation)
        return self

    def calls(self, start: int, end: int, name: str, tid: int | None = None) -> Trace:
        """A call that launches nothing."""
        self.call(start * US, end * US, name, tid=tid)
        return self

    def range(self, start: int, end: int, text: str, tid: int | None = None) -> Trace:
        """A push/pop range."""
        self.nvtx(start * US, end * US, text, tid=tid)
        return self

    def in_os(self, start: int, end: int, name: str, tid: int | None = None) -> Trace:
        """A call of the operating system."""
        self.os_call(start * US, end * US, name, tid=tid)
        return self

    def off_core(self, start: int, end: int) -> Trace:
        """The thread leaves its core, and comes back."""
        self.switch(start * US, is_in=False)
        self.switch(end * US, is_in=True)
        return self

    def _next(self) -> int:
        return self._correlations.get(PID, 0) + 1


def causes(folder: Path, trace: Export, window: WindowChoice | None = None) -> dict[str, int]:
    """The idle time of the only GPU by cause, in microseconds; causes without time are left out."""
    path = trace.write(folder / "rank0.sqlite")
    job = build_job([read_trace(path, ReadOptions())], window)
    idle = job.idle.of_gpu(job.gpus[0])
    assert idle is not None
    assert idle.causes().idle_ns == job.gpus[0].occupancy.part_times().idle_ns
    found = msgspec.to_builtins(idle.causes()).items()
    return {cause.removesuffix("_ns"): time_ns // US for cause, time_ns in found if time_ns}


def ended(trace: Trace) -> Trace:
    """The trace with the gap's end."""
    return trace.launch(1_090, 1_100, runs=(1_101, 1_200))


def starved(us: int) -> dict[str, int]:
    """The causes of a gap in which so much is starved."""
    return {"launch_starved": us, **CALL_AND_HANDOVER}
