"""Steps of a simulated rank, on paper."""

from __future__ import annotations

from nsysan.model.copies import CopyKind
from nsysan.synth.simulation.engine import simulate
from nsysan.synth.simulation.program import Action, HostWork, Launch, Pop, Push, copy
from nsysan.synth.truth.step import StepTime, mean_step_ns, steps_of
from tests.synth.programs import PROMPT, launch

BATCH = Launch("cudaMemcpyAsync_v3020", 0, 7, copy(CopyKind.HOST_TO_DEVICE, 8, 5))


def step(number: int, kernel_ns: int) -> list[Action]:
    """100 of the host: load for 99, then launch a short kernel on another stream, a copy of 5, the kernel."""
    work = (launch(1, stream_id=9), BATCH, launch(kernel_ns))
    return [Push(f"step {number}", marks_step=True), HostWork(99), *work, HostWork(1), Pop()]


def test_steps_tile_the_gpu_from_first_kernel_to_first_kernel_of_the_compute_stream() -> None:
    simulation = simulate([[*step(0, 40), *step(1, 200), *step(2, 40)]], PROMPT)

    # called at 99, 199 and 299; the third copy waits for the second step's kernel, which ends at 404
    assert steps_of(simulation.ranks[0]) == (StepTime("step 0", 104, 204), StepTime("step 1", 204, 409))
    assert mean_step_ns(simulation) == (409 - 104) / 2


def test_the_mean_step_is_that_of_the_slowest_rank() -> None:
    quick, slow = ([*step(0, ns), *step(1, ns), *step(2, ns)] for ns in (40, 200))

    assert mean_step_ns(simulate([quick, slow], PROMPT)) == 205


def test_a_first_step_of_over_one_and_a_half_medians_is_warm_up_of_all_ranks() -> None:
    # steps of 405, 45 and 45, beside 205 each
    warm = [*step(0, 400), *step(1, 40), *step(2, 40), *step(3, 40)]
    even = [*step(0, 200), *step(1, 200), *step(2, 200), *step(3, 200)]

    assert mean_step_ns(simulate([warm], PROMPT)) == 45
    assert mean_step_ns(simulate([warm, even], PROMPT)) == 205
