"""The verdict on one screen: plain text of at most 100 columns, for a terminal or a log."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import msgspec

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.contention import Contention
from nsysan.analysis.counters import Counters
from nsysan.analysis.gpu_time import GpuTime, GpuTimes
from nsysan.analysis.host import HostView
from nsysan.analysis.idle_gaps import Gap, IdleGaps
from nsysan.analysis.kernel_summary import KernelRow, KernelSummary
from nsysan.analysis.memory import Memory
from nsysan.analysis.pipelines import Pipelines
from nsysan.analysis.recomputation import Recomputation
from nsysan.analysis.stages import Stages
from nsysan.analysis.steps import Steps
from nsysan.model.idle import Cause
from nsysan.model.partition import Part
from nsysan.model.results import Skipped
from nsysan.model.run import Run, warnings_first
from nsysan.model.units import counted, format_count, format_duration, format_fraction, format_timestamp
from nsysan.planning.throughput import Throughput
from nsysan.report.clock_words import clock_line
from nsysan.report.columns import WIDTH, cut, drawn, wrapped
from nsysan.report.evidence_sentences import evidence_sentences
from nsysan.report.finding_lines import finding_lines
from nsysan.report.guide import guide_page
from nsysan.report.late_ranks import straggler_sentence, stragglers_of
from nsysan.report.look_next import leads, look_next
from nsysan.report.partition import part_share, worst_gpus
from nsysan.report.pipeline_table import pipeline_sentence
from nsysan.report.prose import ended, fraction_or, paired, plain, spelled, uncapitalized
from nsysan.report.renderers import Renderer
from nsysan.report.sections.collectives import collectives_heading
from nsysan.report.sections.contention import contention_sentence, queued_sentence, same_stream_sentence
from nsysan.report.sections.counters import counters_sentence
from nsysan.report.sections.host import foreign_sentences, waits_sentence
from nsysan.report.sections.memory import memory_sentence, recomputation_sentences, step_sentences
from nsysan.report.sections.nccl import nccl_summary
from nsysan.report.sections.roofline import caution_sentences
from nsysan.report.sections.stages import slowest, stage_sentence
from nsysan.report.sections.throughput import throughput_paragraph
from nsysan.report.steady_waits import state_wait
from nsysan.report.steps import left_out_sentence
from nsysan.report.unanswered_text import unanswered_text
from nsysan.report.verdict import facts_of, state_verdict, subject_of
from nsysan.report.viewer import viewer_of
from nsysan.report.walk import walk_line

_GPU_COUNT = 8
_NOTE_COUNT = 3
_SCREEN_LINES = 55
_NAME_CELLS = 60
_PARAGRAPH_LINES = 6
"""No sentence of ours takes more: what is cut is a name out of the trace."""
_PART_HEADS = {
    Part.COMPUTE_ONLY: "compute",
    Part.OVERLAPPED: "overlap",
    Part.FUSED: "fused",
    Part.OPAQUE_GRAPH: "graph",
    Part.EXPOSED_COMMUNICATION: "comm",
    Part.EXPOSED_COPY: "copy",
    Part.IDLE: "idle",
}


class _Rows(msgspec.Struct, frozen=True):
    """How many rows of each list are shown at most, and whether those that belong together are one block."""

    kernels: int
    causes: int
    gaps: int
    findings: int
    is_dense: bool


_AMPLE = _Rows(kernels=5, causes=4, gaps=3, findings=3, is_dense=False)
_FEW = _Rows(kernels=2, causes=1, gaps=1, findings=2, is_dense=True)
_FEWEST = _Rows(kernels=1, causes=1, gaps=1, findings=2, is_dense=True)


def render_text(run: Run) -> str:
    """The run on one screen: verdict, worst GPUs, longest kernels and gaps, findings, and what is missing.

    What does not fit 55 lines has shorter lists; no sentence is left out for it.
    """
    texts = (_text(run, rows) for rows in (_AMPLE, _FEW))
    return next((text for text in texts if text.count("\n") <= _SCREEN_LINES), None) or _text(run, _FEWEST)


def _text(run: Run, rows: _Rows) -> str:
    sentences = (
        [*_step_lines(run), *_stage_lines(run)],
        [*_collective_lines(run), *_nccl_lines(run)],
        _evidence_lines(run),
        _inside_lines(run),
    )
    blocks = (
        _head(run),
        _gpu_lines(run),
        _kernel_lines(run, rows.kernels),
        *_parted([_cause_lines(run, rows.causes), _gap_lines(run, rows.gaps)], rows),
        *_parted(sentences, rows),
        [
            *finding_lines(run, rows.findings),
            *_note_lines(run),
            *_skipped_lines(run),
            *_next_lines(run),
            f"Written by nsysan {run.nsysan_version}.",
        ],
    )
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


RENDERER = Renderer(".txt", render_text)


def _parted(blocks: Sequence[list[str]], rows: _Rows) -> Sequence[list[str]]:
    """Blocks that lie near each other: one where room is short."""
    return [list(chain.from_iterable(blocks))] if rows.is_dense else blocks


def _head(run: Run) -> list[str]:
    verdict = state_verdict(run)
    details = " ".join(plain(detail) for detail in verdict.details)
    wait = state_wait(run)
    subject = ", ".join((subject_of(run), *facts_of(run)))
    paragraphs = (
        subject,
        ended(verdict.sentence),
        verdict.why,
        details,
        walk_line(run),
        _throughput(run),
        " ".join(caution_sentences(run)),
        wait and plain(wait),
    )
    return [line for paragraph in paragraphs if paragraph for line in _wrapped(paragraph)]


def _throughput(run: Run) -> str | None:
    """How fast the job trains, where its model is known."""
    found = run.results.get(Throughput)
    return None if isinstance(found, Skipped) else throughput_paragraph(found.throughput)


def _gpu_lines(run: Run) -> list[str]:
    gpu_time = run.results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return []
    shown = worst_gpus(gpu_time.gpus, _GPU_COUNT)
    lines = drawn(("GPU", "window", *_PART_HEADS.values(), "busy"), [_gpu_cells(gpu) for gpu in shown])
    omitted_count = len(gpu_time.gpus) - len(shown)
    return [*lines, f"{counted(omitted_count, 'more GPU')} lie between the first two"] if omitted_count else lines


def _gpu_cells(gpu: GpuTimes) -> list[str]:
    shares = [_share(gpu, part) for part in _PART_HEADS]
    busy = fraction_or(gpu.compute_busy_frac, "no window")
    return [gpu.id, format_duration(gpu.time.window_ns), *shares, busy]


def _share(gpu: GpuTimes, part: Part) -> str:
    """The part's share of the window; both ends where a graph leaves open how much communication was exposed."""
    share = fraction_or(part_share(gpu.time, part), "-")
    if part is not Part.EXPOSED_COMMUNICATION or gpu.exposed_communication_max_ns == gpu.time.of(part):
        return share
    return paired(share, "to", format_fraction(gpu.exposed_communication_max_ns / gpu.time.window_ns))


def _kernel_lines(run: Run, count: int) -> list[str]:
    summary = run.results.get(KernelSummary)
    if isinstance(summary, Skipped) or not summary.kernels:
        return []
    rows = [_kernel_cells(row) for row in summary.kernels[:count]]
    return drawn(("Kernels with the most time", "class", "count", "total", "share"), rows)


def _kernel_cells(row: KernelRow) -> list[str]:
    share = fraction_or(row.work_frac, "unknown")
    return [row.name, spelled(row.kernel_class), format_count(row.count), format_duration(row.total_ns), share]


def _cause_lines(run: Run, count: int) -> list[str]:
    """What the GPUs waited for while they were idle, all of them together."""
    gpu_time = run.results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        return []
    explained = [gpu.idle_causes for gpu in gpu_time.gpus if gpu.idle_causes is not None]
    idle_ns = sum(causes.idle_ns for causes in explained)
    times_ns = {cause: sum(causes.of(cause) for causes in explained) for cause in Cause}
    longest = sorted(filter(times_ns.get, times_ns), key=lambda cause: -times_ns[cause])
    shown = longest if len(longest) <= count + 1 else longest[:count]
    rows = [_cause_cells(spelled(cause), times_ns[cause], idle_ns) for cause in shown]
    rest_ns = idle_ns - sum(times_ns[cause] for cause in shown)
    if len(shown) < len(longest):
        rows.append(_cause_cells(counted(len(longest) - len(shown), "other cause"), rest_ns, idle_ns))
    return drawn(("What idle GPUs waited for", "in all", "of idle"), rows) if rows else []


def _cause_cells(name: str, time_ns: int, idle_ns: int) -> list[str]:
    return [name, format_duration(time_ns), format_fraction(time_ns / idle_ns)]


def _step_lines(run: Run) -> list[str]:
    """How long the steady steps of the device with the slowest median take, and which steps are left out."""
    found = run.results.get(Steps)
    if isinstance(found, Skipped):
        return []
    counted_steps = [device for device in found.steps.devices if device.median_ns is not None]
    if not counted_steps:
        return []
    slowest = max(counted_steps, key=lambda device: device.median_ns or 0.0)
    by = (
        "told from the period of the kernels"
        if slowest.marker is None
        else f"marked by {cut(slowest.marker, _NAME_CELLS)}"
    )
    median, p90, worst = (format_duration(time or 0) for time in (slowest.median_ns, slowest.p90_ns, slowest.max_ns))
    times = f"median {median}, 90 % within {p90}, worst {worst}"
    told = f"{counted(slowest.count, 'steady step')} on {slowest.id}, {by}: {times}."
    return _wrapped(" ".join(filter(None, (told, left_out_sentence(found.steps)))))


def _collective_lines(run: Run) -> list[str]:
    """How long ranks waited for each other, for whom most, what a pipeline cannot do without, and on what clock."""
    found = run.results.get(Collectives)
    if isinstance(found, Skipped) or not found.collectives:
        return []
    pipelines = run.results.get(Pipelines)
    bubble = None if isinstance(pipelines, Skipped) else pipeline_sentence(pipelines.pipelines)
    late = straggler_sentence(found, stragglers_of(run))
    heading = " ".join(filter(None, (ended(collectives_heading(found)), clock_line(run))))
    sentences = (heading, late, bubble)
    return [line for sentence in sentences if sentence for line in _wrapped(ended(sentence))]


def _nccl_lines(run: Run) -> list[str]:
    """What NCCL's logs and nccl-tests say, where they were given."""
    return _bounded(list(nccl_summary(run)), "sentence")


def _evidence_lines(run: Run) -> list[str]:
    """What training logs, monitors and the scheduler say, where they were given."""
    return [line for sentence in evidence_sentences(run) for line in _wrapped(sentence)]


def _stage_lines(run: Run) -> list[str]:
    """What the mean step of the slowest device is spent on."""
    found = run.results.get(Stages)
    if isinstance(found, Skipped):
        return []
    device = slowest(found.stages)
    told = f"{format_fraction(device.coverage_frac)} assigned, confidence {device.confidence.value}"
    return _wrapped(f"{stage_sentence(device)} ({told}).")


def _contention_sentences(run: Run) -> list[str]:
    """What communication costs the compute beside it, and what waits: only what there is."""
    found = run.results.get(Contention)
    if isinstance(found, Skipped):
        return []
    slowed = contention_sentence(found.contention) if found.slowed_kernels else None
    sentences = (slowed, queued_sentence(found.contention), same_stream_sentence(found.contention))
    return [sentence for sentence in sentences if sentence is not None]


def _inside_lines(run: Run) -> list[str]:
    """What stands out in host, memory and counters, a line each; nothing of what was not recorded."""
    memory, again = run.results.get(Memory), run.results.get(Recomputation)
    counters, host = run.results.get(Counters), run.results.get(HostView)
    waits = waits_sentence(run)
    sentences = [] if waits is None else [waits]
    if isinstance(memory, Memory) and memory.memory.gpus:
        sentences.append(memory_sentence(memory.memory))
    if isinstance(memory, Memory):
        sentences += step_sentences(memory.memory)
    if isinstance(again, Recomputation) and any(device.recomputed_count for device in again.recomputation):
        sentences += recomputation_sentences(again)
    sentences += _contention_sentences(run)
    if isinstance(counters, Counters):
        sentences.append(counters_sentence(counters))
    if isinstance(host, HostView):
        sentences += foreign_sentences(host.host)
    return [line for sentence in sentences for line in _wrapped(ended(sentence))]


def _gap_lines(run: Run, count: int) -> list[str]:
    idle_gaps = run.results.get(IdleGaps)
    if isinstance(idle_gaps, Skipped) or not idle_gaps.gaps:
        return []
    rows = [_gap_cells(gap) for gap in idle_gaps.gaps[:count]]
    return drawn(("Longest idle gaps, by what ended them", "GPU", "begins at", "lasts"), rows)


def _gap_cells(gap: Gap) -> list[str]:
    end = "the end of the window" if gap.after is None else gap.after
    return [end, gap.gpu, format_timestamp(gap.start_ns), format_duration(gap.duration_ns)]


def _note_lines(run: Run) -> list[str]:
    told = (f"{'warning' if note.is_warning else 'note'}: {note.sentence}" for note in warnings_first(run.notes))
    return _bounded(list(told), "note")


def _skipped_lines(run: Run) -> list[str]:
    line = unanswered_text(run.results.skipped())
    return [] if line is None else _wrapped(line)


def _next_lines(run: Run) -> list[str]:
    """Where to look next, and where that is a gap, its story; then the guide's page."""
    headline = run.diagnosis.headline
    sentence = look_next(run, f" in {viewer_of(run)}, and at the page.")
    guide = None if headline is None else f"What to do about it: {guide_page(headline.finding)}."
    told = (None if sentence is None else plain(sentence), _story(run), guide)
    return _wrapped(" ".join(filter(None, told))) if any(told) else []


def _story(run: Run) -> str | None:
    first, idle_gaps = next(iter(leads(run)), None), run.results.get(IdleGaps)
    if first is None or first.place.kind != "gap" or isinstance(idle_gaps, Skipped):
        return None
    begin = (first.place.gpu, first.place.start_ns)
    story = next(gap.story for gap in idle_gaps.gaps if (gap.gpu, gap.start_ns) == begin)
    return None if story is None else f"In it {uncapitalized(story.sentence)}"


def _bounded(entries: Sequence[str], noun: str) -> list[str]:
    omitted_count = len(entries) - _NOTE_COUNT
    more = [f"and {counted(omitted_count, f'more {noun}')} on the page"] if omitted_count > 0 else []
    return [line for entry in (*entries[:_NOTE_COUNT], *more) for line in _wrapped(entry)]


def _wrapped(paragraph: str) -> list[str]:
    lines = wrapped(paragraph)
    if len(lines) <= _PARAGRAPH_LINES:
        return lines
    return [*lines[: _PARAGRAPH_LINES - 1], cut(" ".join(lines[_PARAGRAPH_LINES - 1 :]), WIDTH)]
