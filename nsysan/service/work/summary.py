"""What lists show of a run: the sentence to repeat, the six figures, and what it was recorded on."""

from __future__ import annotations

from typing import Any

from nsysan.analysis.baseline import Baseline
from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.verdicts import Severity
from nsysan.report.verdict import state_verdict
from nsysan.service.work.order import FIGURES


def summary_of(run: Run) -> dict[str, Any]:
    """The verdict's sentence, the baseline figures that are known and why the others are not, GPUs and findings."""
    baseline, gpu_time = run.results.get(Baseline), run.results.get(GpuTime)
    if isinstance(baseline, Skipped):
        figures, unknown = dict.fromkeys(FIGURES), dict.fromkeys(FIGURES, baseline.reason)
    else:
        figures, unknown = {key: getattr(baseline.baseline, key) for key in FIGURES}, baseline.baseline.unknown
    return {
        "sentence": state_verdict(run).sentence,
        "figures": figures,
        "unknown": unknown,
        "gpu_count": None if isinstance(gpu_time, Skipped) else len(gpu_time.gpus),
        "report_count": len(run.reports),
        "worst": max((finding.severity for finding in run.findings), key=_rank, default=None),
        "nsysan_version": run.nsysan_version,
    }


def _rank(severity: Severity) -> int:
    return severity.rank
