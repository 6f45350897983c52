"""The steps as pages show them: the device they are told of, why some are left out, and how they are spread."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.steps import ExcludedSteps, Steps, StepTable
from nsysan.analysis.steps_of_device import Step, StepsOfDevice
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.thresholds import SLOW_STEP_FACTOR
from nsysan.model.units import counted, format_count, format_duration, format_fraction
from nsysan.report.elements import Place
from nsysan.report.places import gpus_with_lane
from nsysan.report.prose import listed, paired

_REASONS = {
    "warm_up": "as warm-up: they load code, or take over 1.5 medians before the others begin",
    "profiler": "for the profiler: it took over 2 % of them, or was started or stopped in them",
}
_SMALL_TREND_FRAC = 0.01


def slowest_device(table: StepTable) -> StepsOfDevice:
    """The device whose median step takes longest: no other is waited for longer; else the one with most steps."""
    return max(table.devices, key=lambda device: (device.median_ns or 0.0, device.step_count))


def distribution(device: StepsOfDevice) -> str:
    """How many steady steps are slow: ``1 step in 4 takes over 1.2 medians``."""
    limit = f"over {SLOW_STEP_FACTOR} medians"
    if not device.slow_count:
        return f"no step takes {limit}"
    every = device.slow_every
    if every is not None and (device.slow_count + 1) * every >= device.count:
        return f"1 step in {format_count(every)} takes {limit}"
    verb = "takes" if device.slow_count == 1 else "take"
    return f"{format_count(device.slow_count)} of {counted(device.count, 'step')} {verb} {limit}"


def trend(device: StepsOfDevice) -> str | None:
    """How the last third compares to the first, None where they are alike or too few."""
    change = device.trend_frac
    if change is None or abs(change) < _SMALL_TREND_FRAC:
        return None
    longer = "longer" if change > 0 else "less"
    return f"The last third of them takes {format_fraction(abs(change))} {longer} than the first."


def exclusion_sentences(excluded: tuple[ExcludedSteps, ...]) -> tuple[str, ...]:
    """How many steps of all devices are left out, a sentence for each reason."""
    counts = _left_out_counts(excluded)
    return tuple(f"Left out: {counted(count, 'step')} {_REASONS[why]}." for why, count in counts.items())


def _left_out_counts(excluded: tuple[ExcludedSteps, ...]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for entry in excluded:
        counts[entry.reason.value] += entry.count
    return counts


def left_out_sentence(table: StepTable) -> str | None:
    """The same in short, with the last steps, which are open; None where every step counts."""
    counts = _left_out_counts(table.excluded)
    parts = [f"{counted(count, 'step')} {_REASONS[why].partition(':')[0]}" for why, count in counts.items()]
    if any(device.open_ns for device in table.devices):
        parts.append("the open last")
    return f"Left out: {listed(parts)}." if parts else None


def steps_by_gpu(run: Run) -> Mapping[str, StepsOfDevice]:
    """The steps that the timeline shows of each GPU: those of its first device, on whose clock its lane is."""
    gpu_time, found = run.results.get(GpuTime), run.results.get(Steps)
    if isinstance(gpu_time, Skipped) or isinstance(found, Skipped):
        return {}
    reports = {device.id: device.report for device in gpu_time.devices}
    shown, of_devices = gpus_with_lane(run), {device.id: device for device in found.steps.devices}
    return {
        gpu.id: of_devices[device]
        for gpu in gpu_time.gpus
        for device in reversed(gpu.devices)
        if gpu.id in shown and device in of_devices and reports.get(device) == reports.get(gpu.devices[0])
    }


def step_places(run: Run, device: StepsOfDevice) -> Mapping[int, Place]:
    """By the begin of a step where the timeline shows it; none where the GPU has no lane, or another clock."""
    gpu = next((gpu for gpu, shown in steps_by_gpu(run).items() if shown.id == device.id), None)
    return {} if gpu is None else {step.start_ns: _place(gpu, step) for step in device.list}


def open_sentence(devices: Sequence[StepsOfDevice]) -> str | None:
    """That the last step of each device is not closed, and how much of the window that is; None where all are."""
    open_ns = [device.open_ns for device in devices if device.open_ns]
    if not open_ns:
        return None
    low, high = format_duration(min(open_ns)), format_duration(max(open_ns))
    last = "The last step is" if len(open_ns) == 1 else "The last step of each device is"
    lasts = high if low == high else paired(low, "to", high)
    return f"{last} not closed, for no step begins after it: its {lasts} are in no figure of steps."


def _place(gpu_id: str, step: Step) -> Place:
    return Place("step", gpu_id, step.start_ns, step.end_ns)
