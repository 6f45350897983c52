"""What is true of a simulated rank besides CUDA and NVTX, as far as the capture was asked for it."""

from __future__ import annotations

from nsysan.synth.recording_plan import RecordingPlan
from nsysan.synth.simulation.timelines import RankTimeline
from nsysan.synth.system.memory import memory_events, memory_truth
from nsysan.synth.system.os_wait import HostTruth, host_truth
from nsysan.synth.trace_kind import USUAL_KINDS, TraceKind
from nsysan.synth.truth.job_truth import SystemTruth

_OF_HOST = frozenset({TraceKind.OSRT, TraceKind.SCHED})


def system_truth(timeline: RankTimeline, plan: RecordingPlan, window_ns: int) -> SystemTruth | None:
    """Host, memory and counters of a rank over all recordings, which take ``window_ns`` of its GPU's time."""
    if plan.kinds <= USUAL_KINDS:
        return None
    return SystemTruth(
        host=_host(timeline, plan.repetition.count) if plan.kinds & _OF_HOST else None,
        memory=memory_truth(memory_events(timeline.calls, timeline.spans[0].start_ns, plan.footprint))
        if TraceKind.MEMORY in plan.kinds
        else None,
        counter_mean_percents=_counters(timeline, plan.repetition.count, window_ns)
        if TraceKind.METRICS in plan.kinds
        else None,
    )


def _host(timeline: RankTimeline, count: int) -> HostTruth:
    once = host_truth(timeline.spans)
    return HostTruth(count * once.os_call_count, count * once.os_call_ns, count * once.off_cpu_ns)


def _counters(timeline: RankTimeline, count: int, window_ns: int) -> dict[str, float]:
    from nsysan.synth.system.counters import Counters

    return {metric: count * total / window_ns for metric, total in Counters(timeline.works).totals().items()}
