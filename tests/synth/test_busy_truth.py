"""The truth's own partition against a count of every nanosecond, and against a case on paper."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from nsysan.model.partition import Activity, Part, PartTimes, part_of
from nsysan.synth.simulation.program import kernel
from nsysan.synth.simulation.timelines import Call, GpuWork
from nsysan.synth.truth.busy import idle_gaps, part_times, window_of

CALL = Call(0, 0, None, "cudaLaunchKernel", 1)


def work(start_ns: int, end_ns: int, activity: Activity) -> GpuWork:
    return GpuWork(start_ns, end_ns, 7, kernel("k", end_ns - start_ns, activity), CALL)


works = st.lists(
    st.builds(
        lambda start_ns, length_ns, activity: work(start_ns, start_ns + length_ns, activity),
        st.integers(0, 60),
        st.integers(1, 15),
        st.sampled_from(Activity),
    ),
    min_size=1,
    max_size=12,
)


def test_a_partition_on_paper() -> None:
    found = [work(0, 10, Activity.COMPUTE), work(5, 12, Activity.COMMUNICATION), work(15, 18, Activity.COPY)]

    assert part_times(found) == PartTimes(5, 5, 0, 0, 2, 3, 3)
    assert idle_gaps(found) == [(12, 15)]


@given(works)
def test_each_nanosecond_belongs_to_the_part_that_runs_in_it(found: list[GpuWork]) -> None:
    start_ns, end_ns = window_of(found)
    counted = Counter(
        part_of(Activity(sum({work.task.activity for work in found if work.start_ns <= time_ns < work.end_ns})))
        for time_ns in range(start_ns, end_ns)
    )

    assert part_times(found) == PartTimes(**{f"{part.value}_ns": counted[part] for part in Part})


@given(works)
def test_gaps_are_the_maximal_idle_spans(found: list[GpuWork]) -> None:
    start_ns, end_ns = window_of(found)
    busy = {time_ns for work in found for time_ns in range(work.start_ns, work.end_ns)}
    idle = [time_ns for time_ns in range(start_ns, end_ns) if time_ns not in busy]
    begins = [time_ns for time_ns in idle if time_ns - 1 not in idle]
    ends = [time_ns + 1 for time_ns in idle if time_ns + 1 not in idle]

    assert idle_gaps(found) == list(zip(begins, ends, strict=True))
