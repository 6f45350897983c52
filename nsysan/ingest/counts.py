"""What was counted of a report, by process: GPU work on each device, NVTX ranges in each domain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from nsysan.model.contents import DeviceWork, NamedCount, NvtxContents, ProcessWork
from nsysan.model.host_events import unnamed_domain
from nsysan.model.trace import process_of

NAME_COUNT = 8
"""How many of the most frequent names are given."""
NCCL_DOMAIN = "NCCL"


class GpuWork(msgspec.Struct, frozen=True):
    """Records of work, and their first begin and last end in session time; None where no record has a sound time."""

    record_count: int
    start_ns: int | None
    end_ns: int | None

    def with_more(self, other: GpuWork) -> GpuWork:
        """Both together."""
        starts = [each for each in (self.start_ns, other.start_ns) if each is not None]
        ends = [each for each in (self.end_ns, other.end_ns) if each is not None]
        count = self.record_count + other.record_count
        return GpuWork(count, min(starts, default=None), max(ends, default=None))


class Counts(msgspec.Struct, frozen=True):
    """Work by (global pid, device id), and ranges by (global pid, domain id) with the names of such domains.

    ``domain_names`` may name domains without ranges.
    """

    work: Mapping[tuple[int, int], GpuWork]
    ranges: Mapping[tuple[int, int], int]
    domain_names: Mapping[tuple[int, int], str]

    def total_work(self) -> GpuWork:
        """The work of all processes on all devices."""
        total = GpuWork(0, None, None)
        for done in self.work.values():
            total = total.with_more(done)
        return total

    def devices(self) -> tuple[DeviceWork, ...]:
        """The work of every process on every device."""
        return tuple(
            DeviceWork(process_of(global_pid), device_id, done.record_count, done.start_ns, done.end_ns)
            for (global_pid, device_id), done in sorted(self.work.items())
        )

    def processes(self, names: Mapping[int, str]) -> tuple[ProcessWork, ...]:
        """The processes that did work or opened ranges, with the names of those that have one."""
        records, ranges = Counter[int](), Counter[int]()
        for (global_pid, _), done in self.work.items():
            records[global_pid] += done.record_count
        for (global_pid, _), count in self.ranges.items():
            ranges[global_pid] += count
        return tuple(
            ProcessWork(process_of(pid), names.get(pid), records[pid], ranges[pid])
            for pid in sorted({*records, *ranges})
        )

    def ranges_by_domain(self) -> Counter[str]:
        """The ranges by the name of their domain; ids are unique per process only. Without a name it is its number."""
        counts: Counter[str] = Counter()
        for (global_pid, domain_id), count in self.ranges.items():
            counts[self.domain_names.get((global_pid, domain_id), unnamed_domain(domain_id))] += count
        return counts

    def nvtx(self, frequent_names: Mapping[str, int]) -> NvtxContents | None:
        """The ranges, None where there are none."""
        domains = _falling(self.ranges_by_domain())
        if not domains:
            return None
        return NvtxContents(sum(self.ranges.values()), domains, _falling(frequent_names)[:NAME_COUNT])


def _falling(counts: Mapping[str, int]) -> tuple[NamedCount, ...]:
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    return tuple(NamedCount(name, count) for name, count in ordered)
