"""Records that could not be counted as work, so that nobody takes the rest for everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from nsysan.analysis.gpu_time import GpuTime
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.units import counted, format_count
from nsysan.model.verdicts import Severity


def find_excluded_records(results: ResultSet) -> Iterable[Finding]:
    """One finding over all devices that have records without a possible time."""
    gpu_time = results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return
    counts: Counter[str] = Counter()
    for device in gpu_time.devices:
        counts.update(device.excluded_records)
    if not counts:
        return
    described = ", ".join(f"{format_count(count)} {spelled(why)}" for why, count in sorted(counts.items()))
    yield notice(
        RULE.id,
        Severity.INFO,
        f"{counted(sum(counts.values()), 'GPU record')} left out",
        (Evidence(f"Left out: {described}.", GpuTime.id),),
        "If there are many, stop the capture before the process exits, so that buffers are not lost.",
    )


RULE = Rule("excluded_records", find_excluded_records)
