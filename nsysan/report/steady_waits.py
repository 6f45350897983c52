"""What the GPUs wait for once the job runs: inside the steady steps, or after start-up where no steps are known."""

from __future__ import annotations

from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.steps import Steps
from nsysan.model.awaited import awaited
from nsysan.model.idle import Cause
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import LEAST_SHOWN_FRAC, format_duration, format_fraction, rounds_to_zero
from nsysan.report.extremes import alike, one_of_those
from nsysan.report.prose import Phrase, Sentence, listed, paired

HARDLY_FRAC = 0.02
"""Less idle time in a step has no cause worth a word."""
SWAMPING_FRAC = 0.1
"""From this share of idle time on, start-up hides what a job waits for later."""


def state_wait(run: Run) -> Sentence | None:
    """The cause of most idle time without start-up; None where it is not known, or start-up is no matter."""
    return _in_steps(run) or _after_start_up(run)


def _in_steps(run: Run) -> Sentence | None:
    """Of the mean steady step of the device that idles most in it: the others may have waited for that one."""
    found = run.results.get(Steps)
    devices = () if isinstance(found, Skipped) else found.steps.devices
    known = [(each, each.time, each.idle_causes) for each in devices if each.time and each.idle_causes]
    if not known:
        return None
    shares = [time.idle_ns / max(time.window_ns, 1) for _, time, _ in known]
    device, time, causes = known[shares.index(max(shares))]
    step_ns, idle_ns = time.window_ns, causes.idle_ns
    if idle_ns < HARDLY_FRAC * step_ns:
        return _hardly_any(idle_ns, step_ns, single=len(known) == 1)
    cause, time_ns = _largest({cause: causes.of(cause) for cause in Cause})
    count = len(alike(max(shares), shares, format_fraction))
    idlest = one_of_those(count, "which idles most" if count == 1 else "that idle most")
    subject = "the GPU" if len(known) == 1 else f"{device.id}, {idlest},"
    waits = f"In the mean steady step {subject} waits most for {cause}: {format_duration(time_ns)}, "
    return (Phrase(waits), _share_of(time_ns, step_ns), Phrase(" of it."))


def _hardly_any(idle_ns: int, step_ns: int, *, single: bool) -> Sentence:
    """How little the idlest GPU idles; a share that rounds to nothing as what it is below."""
    is_nothing = rounds_to_zero(idle_ns / step_ns)
    share = Phrase(format_fraction(LEAST_SHOWN_FRAC), "steps") if is_nothing else _share_of(idle_ns, step_ns)
    idles = f"the GPU idles for {'less than ' if is_nothing else ''}" if single else "no GPU idles for more than "
    return (Phrase(f"In the mean steady step {idles}"), share, Phrase("."))


def _share_of(time_ns: int, step_ns: int) -> Phrase:
    return Phrase(format_fraction(time_ns / step_ns), "steps")


def _after_start_up(run: Run) -> Sentence | None:
    """Over all devices whose start-up is known, where that holds a tenth of their idle time."""
    gpu_time = run.results.get(GpuTime)
    devices = () if isinstance(gpu_time, Skipped) else gpu_time.devices
    known = [(each.idle_causes, each.start_up.idle_causes) for each in devices if each.idle_causes and each.start_up]
    later = {cause: sum(whole.of(cause) - early.of(cause) for whole, early in known) for cause in Cause}
    idle_ns = sum(whole.idle_ns for whole, _ in known)
    start_up_ns = idle_ns - sum(later.values())
    cause, time_ns = _largest(later)
    if not known or start_up_ns < SWAMPING_FRAC * idle_ns or not time_ns:
        return None
    told = Phrase(paired(format_duration(time_ns), "of", format_duration(sum(later.values()))), "causes")
    before = f" of idle time; {format_fraction(start_up_ns / idle_ns)} of all is before that."
    gpus = "the GPU" if len(known) == 1 else "the GPUs"
    return (Phrase(f"After start-up {gpus} waited most for {cause}: "), told, Phrase(before))


def _largest(times_ns: dict[Cause, int]) -> tuple[str, int]:
    """What was waited for longest, in words, and how long: several where they are told apart by no printed figure."""
    longest = max(times_ns, key=lambda cause: times_ns[cause])
    causes = alike(longest, times_ns, lambda cause: format_duration(times_ns[cause]))
    return listed([awaited(cause) for cause in causes]), sum(times_ns[cause] for cause in causes)
