"""Records of what was sampled or missed: stacks of threads, contexts of GPUs, network counters, pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from nsysan.model.host_events import SwitchTag
from nsysan.synth.tables import schema
from nsysan.synth.tables.metadata import VM_GLOBAL_ID
from nsysan.synth.tables.row_store import RowStore, global_pid

_RUNNING = 1
_METRIC_LIST = 1
_READ = 1

Self = TypeVar("Self", bound="SampledRecords")


class SampledRecords(RowStore):
    """The methods that add such records; each answers the export itself. Thread None is the process' first."""

    def gpu_page_fault(  # noqa: PLR0913 -- a fault's place, each by name
        self: Self, start_ns: int, end_ns: int, count: int, *, pid: int = 100, device: int = 0, address: int = 0xA000
    ) -> Self:
        """Faults of a GPU on one page of unified memory."""
        row = (start_ns, end_ns, global_pid(pid), device, address, count, _READ)
        self._append(schema.GPU_PAGE_FAULTS, row)
        return self

    def host_page_fault(self: Self, time_ns: int, *, pid: int = 100, address: int = 0xA000) -> Self:
        """A fault of the host on a page of unified memory."""
        function, module = self._string_id("main"), self._string_id("a.out")
        self._append(schema.HOST_PAGE_FAULTS, (time_ns, global_pid(pid), address, function, module))
        return self

    def cpu_sample(
        self: Self,
        time_ns: int,
        stack: Sequence[str],
        *,
        pid: int = 100,
        tid: int | None = None,
        state: int = _RUNNING,
    ) -> Self:
        """A thread that was found on a core; ``stack`` are its functions, the one that ran first."""
        sample_id = len(self._rows[schema.CPU_SAMPLES]) + 1
        self._append(schema.CPU_SAMPLES, (sample_id, time_ns, state, self._thread(pid, tid)))
        for depth, function in enumerate(stack):
            row = (sample_id, self._string_id(function), self._string_id("libpython3.so"), depth)
            self._append(schema.CPU_STACKS, row)
        return self

    def gpu_switch(
        self: Self, time_ns: int, tag: SwitchTag, *, context: int = 1, pid: int | None = 100, gpu_id: int = 0
    ) -> Self:
        """A change of context on a GPU; ``pid`` None: nsys does not know whose context it is."""
        sequence = len(self._rows[schema.GPU_SWITCHES])
        owner = None if pid is None else global_pid(pid)
        self._append(schema.GPU_SWITCHES, (int(tag), sequence, context, time_ns, owner, gpu_id))
        return self

    def network_adapter(self: Self, nic_id: int, name: str) -> Self:
        """An adapter of the machine."""
        self._append(schema.ADAPTERS, (nic_id, "Local (CLI)", nic_id, name))
        self._append(schema.ADAPTER_IDS, (nic_id, VM_GLOBAL_ID | nic_id))
        return self

    def network_metric(self: Self, metric: int, name: str, unit: str = "bytes/ms") -> Self:
        """A counter that adapters have."""
        self._append(schema.NETWORK_METRICS, (_METRIC_LIST, metric, name, name, unit))
        return self

    def network_sample(self: Self, start_ns: int, end_ns: int, nic_id: int, metric: int, value: int) -> Self:
        """A counter of an adapter over a stretch of time; 3.25 keeps its port, which is 1 here."""
        port = (1,) if self.release.is_new else ()
        self._append(
            schema.NETWORK_SAMPLES, (start_ns, end_ns, VM_GLOBAL_ID | nic_id, *port, _METRIC_LIST, metric, value)
        )
        return self
