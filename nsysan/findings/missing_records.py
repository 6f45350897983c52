"""GPU records that must have been and cannot be counted: what is computed of the rest is no longer the figure."""

from __future__ import annotations

from collections.abc import Iterable

from nsysan.analysis.gpu_time import RECORD_AGAIN, GpuTime
from nsysan.findings.notices import notice
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.verdicts import Severity

_NOUNS = {"kernels": "kernel", "copies": "copy", "memsets": "memset", "graph_launches": "CUDA graph"}


def find_missing_records(results: ResultSet) -> Iterable[Finding]:
    """A warning for each kind of GPU records of which 2 % or more are missing: idle time may have been busy."""
    gpu_time = results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return
    for kind, records in gpu_time.job.missing_records.items():
        if records.is_much:
            described = records.described(_NOUNS[kind])
            yield notice(
                RULE.id,
                Severity.WARNING,
                f"{described}: idle time may have been busy",
                (Evidence(f"Unreadable, without a possible time, or never recorded: {described}.", GpuTime.id),),
                RECORD_AGAIN,
            )


RULE = Rule("missing_records", find_missing_records)
