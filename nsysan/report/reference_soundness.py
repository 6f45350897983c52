"""Whether what a saved run refers to is there: ids that are one of a kind, and places in lists that exist."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import msgspec

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.ranges import Ranges
from nsysan.model.results import Skipped
from nsysan.model.run import Run


class Known(msgspec.Struct, frozen=True):
    """What may be referred to: GPUs by id, None where the run does not hold them, and reports by their place."""

    gpus: frozenset[str] | None
    report_count: int

    @classmethod
    def of(cls, run: Run) -> Known:
        """What the run holds."""
        gpu_time = run.results.get(GpuTime)
        gpus = None if isinstance(gpu_time, Skipped) else frozenset(gpu.id for gpu in gpu_time.gpus)
        return cls(gpus, len(run.reports))

    def flaws(self, fields: Mapping[str, object], path: str) -> Iterator[str]:
        """What the fields of one object refer to that is not there, as sentences without a full stop."""
        for key in ("gpu", "worst_gpu"):
            value = fields.get(key)
            if self.gpus is not None and isinstance(value, str) and value not in self.gpus:
                yield f"{path}.{key} names a GPU that gpus[] does not have"
        report = fields.get("report")
        if isinstance(report, int) and not 0 <= report < self.report_count:
            yield f"{path}.report is no place in reports[]"


def reference_flaws(run: Run) -> Iterator[str]:
    """Ids that stand for two things, and ranges inside of what is not there, as sentences without a full stop."""
    gpu_time, ranges = run.results.get(GpuTime), run.results.get(Ranges)
    if not isinstance(gpu_time, Skipped):
        yield from _repeated([gpu.id for gpu in gpu_time.gpus], "gpus")
        yield from _repeated([device.id for device in gpu_time.devices], "devices")
    if not isinstance(ranges, Skipped):
        for place, node in enumerate(ranges.range_tree):
            if node.parent is not None and not 0 <= node.parent < place:
                yield f"range_tree[{place}].parent is {node.parent}, which is no place before its own"


def _repeated(ids: Collection[str], where: str) -> Iterator[str]:
    seen: set[str] = set()
    for place, each in enumerate(ids):
        if each in seen:
            yield f"{where}[{place}].id is that of another one, too"
        seen.add(each)
