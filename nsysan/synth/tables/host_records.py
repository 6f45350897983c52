"""Records of what host threads did outside CUDA: OS calls, scheduling, MPI ranks, NVTX marks and long ranges."""

from __future__ import annotations

from typing import TypeVar

from nsysan.synth.tables import schema
from nsysan.synth.tables.database import Row
from nsysan.synth.tables.row_store import RowStore

_CATEGORY = 33
_MARK = 34
_START_END_RANGE = 60

Self = TypeVar("Self", bound="HostRecords")


class HostRecords(RowStore):
    """The methods that add such records; each answers the export itself. Thread None is the process' first."""

    def os_call(self: Self, start_ns: int, end_ns: int, name: str, *, pid: int = 100, tid: int | None = None) -> Self:
        """A call into an OS runtime library, such as poll; nsys keeps those of 1 us or more."""
        self._append(schema.OS_RUNTIME, (start_ns, end_ns, self._thread(pid, tid), self._string_id(name)))
        return self

    def switch(self: Self, time_ns: int, *, is_in: bool, pid: int = 100, tid: int | None = None, cpu: int = 0) -> Self:
        """The scheduler puts a thread on the CPU, or takes it off."""
        self._append(schema.SCHEDULING, (time_ns, cpu, int(is_in), self._thread(pid, tid)))
        return self

    def mpi_rank(self: Self, rank: int, *, pid: int = 100, tid: int | None = None) -> Self:
        """The rank that the thread's process has in MPI's world."""
        self._append(schema.MPI_RANKS, (self._thread(pid, tid), rank))
        return self

    def nvtx_mark(  # noqa: PLR0913 -- a mark's place, each by name
        self: Self,
        time_ns: int,
        text: str,
        *,
        category: int | None = None,
        pid: int = 100,
        tid: int | None = None,
        domain: int = 0,
    ) -> Self:
        """A moment that the program named."""
        row = (time_ns, None, _MARK, text, self._thread(pid, tid), None, domain, None, category, None)
        return self._add_nvtx(row)

    def nvtx_category(self: Self, category: int, name: str, *, pid: int = 100, domain: int = 0) -> Self:
        """The name of a category of a domain's marks and ranges."""
        row = (0, None, _CATEGORY, name, self._thread(pid, None), None, domain, None, category, None)
        return self._add_nvtx(row)

    def nvtx_range(  # noqa: PLR0913 -- a range's place and ends, each by name
        self: Self,
        start_ns: int,
        end_ns: int | None,
        text: str,
        *,
        range_id: int = 1,
        category: int | None = None,
        pid: int = 100,
        tid: int | None = None,
        end_tid: int | None = None,
        domain: int = 0,
    ) -> Self:
        """A range that was started and ended by its id, on thread ``end_tid`` where that was another."""
        ended_on = None if end_tid is None else self._thread(pid, end_tid)
        where = (self._thread(pid, tid), None, domain, range_id, category, ended_on)
        return self._add_nvtx((start_ns, end_ns, _START_END_RANGE, text, *where))

    def _add_nvtx(self: Self, row: Row, payload: bytes | None = None) -> Self:
        self._rows[schema.NVTX_EVENTS].append((*row, payload) if self.release.is_new else row)
        return self
