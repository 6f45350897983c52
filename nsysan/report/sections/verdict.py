"""The verdict: what the run is about, and the sentences to repeat in a meeting."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_duration
from nsysan.report.prose import Sentence, listed
from nsysan.report.section import Layout, Section
from nsysan.report.verdict import state_verdict


@dataclass(frozen=True, slots=True)
class VerdictView:
    """The subject of the page with a few facts about it, and the verdict."""

    heading: str
    context: None
    subject: str
    facts: tuple[str, ...]
    why: str | None
    details: tuple[Sentence, ...]


def subject_of(run: Run) -> str:
    """What the run is about: the name of its report, or how many there are."""
    if not run.reports:
        return "no report"
    first, *others = run.reports
    return first.name if not others else f"{first.name} and {counted(len(others), 'other report')}"


def facts_of(run: Run) -> tuple[str, ...]:
    """What a reader places the run by: its GPUs, their window, and the profiler."""
    return (*_gpu_facts(run), *_tool_facts(run))


def _build(run: Run) -> VerdictView:
    verdict = state_verdict(run)
    return VerdictView(verdict.sentence, None, subject_of(run), facts_of(run), verdict.why, verdict.details)


def _gpu_facts(run: Run) -> list[str]:
    gpu_time = run.results.get(GpuTime)
    if isinstance(gpu_time, Skipped) or not gpu_time.gpus:
        return []
    names = sorted({gpu.name for gpu in gpu_time.gpus if gpu.name is not None})
    count = counted(len(gpu_time.gpus), "GPU")
    windows = sorted(gpu.time.window_ns for gpu in gpu_time.gpus)
    shortest, longest = format_duration(windows[0]), format_duration(windows[-1])
    window = longest if shortest == longest else f"{shortest} to {longest}"
    return [f"{count}, {listed(names)}" if names else count, f"window {window}"]


def _tool_facts(run: Run) -> list[str]:
    versions = sorted({report.nsys_version for report in run.reports if report.nsys_version is not None})
    return [f"Nsight Systems {listed(versions)}"] if versions else []


SECTION = Section("verdict", 0, "Verdict", "What holds this job back", _build, Layout.OPEN)
