"""What the GPUs wait for apart from start-up, in one sentence."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime, StartUp
from nsysan.analysis.steps import Steps
from nsysan.analysis.steps_of_device import StepsOfDevice
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.partition import PartTimes
from nsysan.report.prose import plain
from nsysan.report.steady_waits import state_wait
from tests.report.gpu_times import EXPLAINED_GPUS, causes_of
from tests.report.recorded import MS, STEPS, STEPS_OF_FIRST
from tests.report.runs import run_of


def told(*results: GpuTime | Steps) -> str | None:
    sentence = state_wait(run_of(*results))
    return None if sentence is None else plain(sentence)


def steps(device: StepsOfDevice) -> Steps:
    return Steps(replace(STEPS.steps, devices=(device,)))


def idling(idle_ns: int, causes: dict[Cause, int]) -> StepsOfDevice:
    """A device whose mean step of 70 ms has so much idle time."""
    time = PartTimes(70 * MS - idle_ns, 0, 0, 0, 0, 0, idle_ns)
    return replace(STEPS_OF_FIRST, time=time, idle_causes=IdleCauses.of_times(causes))


def started(*start_ups: StartUp | None) -> GpuTime:
    """Two devices that waited 60 and 200 ms for data, 30 and 50 for the host, and 10 for handing over."""
    pairs = zip(EXPLAINED_GPUS.gpus, start_ups, strict=True)
    first = EXPLAINED_GPUS.devices[0]
    devices = tuple(
        replace(first, time=gpu.time, idle_causes=gpu.idle_causes, start_up=start_up) for gpu, start_up in pairs
    )
    return replace(EXPLAINED_GPUS, devices=devices)


def test_inside_steps_it_is_that_of_the_mean_steady_step() -> None:
    hardly = idling(MS, {Cause.HANDOVER: MS})

    assert [told(EXPLAINED_GPUS, steps(device)) for device in (STEPS_OF_FIRST, hardly)] == [
        "In the mean steady step the GPU waits most for the data loader: 26.000 ms, 37.1 % of it.",
        "In the mean steady step the GPU idles for 1.4 %.",
    ]


def test_of_several_devices_it_is_the_one_that_idles_most() -> None:
    """The slowest median may be that of a device that only waits for another in its collectives."""
    idlest = replace(STEPS_OF_FIRST, id="r0/p1001/d1", median_ns=1.0)
    waiting = replace(STEPS_OF_FIRST, time=PartTimes(70 * MS, 0, 0, 0, 0, 0, 0), idle_causes=IdleCauses.of_times({}))
    both = Steps(replace(STEPS.steps, devices=(waiting, idlest)))

    assert told(EXPLAINED_GPUS, both) == (
        "In the mean steady step r0/p1001/d1, which idles most, waits most for the data loader: 26.000 ms, 37.1 % "
        "of it."
    )


def test_of_devices_that_idle_alike_and_causes_that_take_as_long_none_is_named_alone() -> None:
    half = {Cause.DATA_LOADING: 10 * MS, Cause.HANDOVER: 10 * MS}
    kinds = (idling(20 * MS, half), idling(MS, {Cause.HANDOVER: MS}))
    devices = [tuple(replace(device, id=name) for name in "ab") for device in kinds]

    assert [told(EXPLAINED_GPUS, Steps(replace(STEPS.steps, devices=pair))) for pair in devices] == [
        (
            "In the mean steady step a, one of 2 that idle most, waits most for the data loader and work already "
            "launched to begin: 20.000 ms, 28.6 % of it."
        ),
        "In the mean steady step no GPU idles for more than 1.4 %.",
    ]


def test_without_steps_it_is_what_comes_after_start_up() -> None:
    loading = StartUp(1, causes_of(data_loading=60)), StartUp(1, causes_of(data_loading=180))
    unsteady = steps(replace(STEPS_OF_FIRST, idle_causes=None, time=None, median_ns=None))

    expected = (
        "After start-up the GPUs waited most for the host to launch work: 80.000 of 110.000 ms of idle time; "
        "68.6 % of all is before that."
    )
    assert [told(started(*loading)), told(started(*loading), unsteady)] == [expected, expected]


def test_start_up_that_is_no_matter_is_not_told_apart() -> None:
    short = StartUp(1, causes_of(launch_starved=10))

    assert told(started(short, short)) is None
    assert told(started(None, None)) is None
    assert told() is None


def test_of_devices_that_know_their_start_up_only() -> None:
    loading = StartUp(1, IdleCauses.of_times({Cause.DATA_LOADING: 60 * MS, Cause.LAUNCH_STARVED: 30 * MS}))

    assert told(started(loading, None)) == (
        "After start-up the GPU waited most for work already launched to begin: 10.000 of 10.000 ms of idle time; "
        "90.0 % of all is before that."
    )
