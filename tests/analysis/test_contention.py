"""What compute and communication cost each other, on paper, against brute force, and as it was planted."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.analysis.contention import (
    Contention,
    ContentionOfGpu,
    Overlap,
    QueuedCommunication,
    SameStream,
    SlowedKernel,
    Waits,
)
from nsysan.attribution.contention.queued import called_work, queued_communication
from nsysan.attribution.job import build_job
from nsysan.attribution.streams import streams_of_work
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.results import Skipped
from nsysan.model.text import text_hash
from nsysan.model.thresholds import AT_ONCE_NS, SHORTEST_DELAY_NS
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.export import Export, KernelShape
from nsysan.synth.generate import generate
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import find_scenario
from tests.runs import analyze_exports, result_of

US = 1_000
GEMM, ALL_REDUCE = "ampere_sgemm", "ncclDevKernel_AllReduce_Sum"
NOTHING_SHARED = SameStream(0, 0, 0.0)


class Calls:
    """Kernels with the calls that launch them; times in us."""

    def __init__(self) -> None:
        self.export = Export()
        self._correlation = 0

    def kernel(self, called: float, start: float, end: float, name: str, stream: int = 7) -> Calls:
        self._correlation += 1
        begin = int(called * US)
        self.export.call(begin, begin + 1, "cudaLaunchKernel", correlation=self._correlation)
        times = int(start * US), int(end * US)
        self.export.kernel(*times, name, stream=stream, correlation=self._correlation)
        return self


def contention(folder: Path, export: Export) -> Contention:
    return result_of(analyze_exports(folder, export), Contention)


def test_communication_that_is_ready_waits_for_compute_called_after_it(tmp_path: Path) -> None:
    # C41: the collective is called first, the product next; it runs first, and neither depends on the other
    calls = Calls().kernel(0, 12, 14, ALL_REDUCE, stream=9).kernel(1, 2, 12, GEMM)

    found = contention(tmp_path, calls.export)

    (gpu,) = found.contention
    assert gpu.queued == Waits(1, 12 * US - 1)
    assert found.queued_communication == (QueuedCommunication("gpu0", ALL_REDUCE, 12 * US, 12 * US - 1, GEMM),)


def test_what_was_called_before_may_be_what_communication_waits_for(tmp_path: Path) -> None:
    # the product called first may have made what is reduced; the second, which ran on, only held the collective up
    calls = Calls().kernel(0, 2, 30, GEMM).kernel(1, 50, 60, ALL_REDUCE, stream=9).kernel(2, 20, 50, GEMM, stream=8)

    (gpu,) = contention(tmp_path, calls.export).contention

    assert gpu.queued == Waits(1, (50 - 30) * US)


@pytest.mark.parametrize(
    ("why", "calls"),
    [
        ("it begins long after", Calls().kernel(0, 30, 40, ALL_REDUCE, 9).kernel(1, 2, 20, GEMM)),
        ("the product was called first", Calls().kernel(0, 2, 20, GEMM).kernel(1, 20, 40, ALL_REDUCE, 9)),
        ("its stream was busy", Calls().kernel(0, 2, 20, ALL_REDUCE, 9).kernel(1, 20, 40, ALL_REDUCE, 9)),
        ("it takes no longer than a launch", Calls().kernel(0, 9, 40, ALL_REDUCE, 9).kernel(1, 2, 9, GEMM)),
    ],
)
def test_communication_that_begins_when_it_can_is_not_queued(tmp_path: Path, why: str, calls: Calls) -> None:
    (gpu,) = contention(tmp_path, calls.kernel(100, 101, 102, GEMM).export).contention

    assert gpu.queued == Waits(0, 0), why


def test_compute_that_waits_for_communication_is_blocked_by_it_and_not_short_of_launches(tmp_path: Path) -> None:
    # C14: called at 0, the collective runs from 0 to 30, the product after it on another stream
    calls = Calls().kernel(0, 0.1, 30, ALL_REDUCE, stream=9).kernel(0.05, 30, 40, GEMM)

    (gpu,) = contention(tmp_path, calls.export).contention

    assert gpu == ContentionOfGpu("gpu0", 1, 29_900, 0, None, Waits(0, 0), Waits(1, 29_900), NOTHING_SHARED)


def test_compute_that_waits_on_several_streams_waits_once(tmp_path: Path) -> None:
    calls = Calls().kernel(0, 1, 30, ALL_REDUCE, 9).kernel(1, 30, 40, GEMM).kernel(2, 30, 40, GEMM, 8)

    (gpu,) = contention(tmp_path, calls.export).contention

    # from 1.001, when the first call has returned, to 30
    assert gpu.waiting == Waits(2, 30 * US - US - 1)


def test_without_calls_nothing_is_said_of_what_waits(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, GEMM).kernel(10, 20, ALL_REDUCE, stream=9)

    assert contention(tmp_path, export).contention == (
        ContentionOfGpu("gpu0", 1, 10, 0, None, None, None, NOTHING_SHARED),
    )


def test_communication_on_the_stream_that_computes_is_a_share_of_all(tmp_path: Path) -> None:
    export = Export().kernel(0, 100, GEMM).kernel(100, 130, ALL_REDUCE).kernel(0, 70, ALL_REDUCE, stream=9)

    (gpu,) = contention(tmp_path, export).contention

    assert gpu.same_stream == SameStream(1, 30, 0.3)


def test_kernels_of_one_shape_are_compared_alone_and_beside_communication(tmp_path: Path) -> None:
    # alone 10, 10 and 11 us; beside the collective 13, 12 and 14; another grid has nothing to be compared with, and
    # what ran beside it for less than half of its time tells nothing
    export, small = Export(), KernelShape(grid=(4, 2, 1), block=(256, 1, 1))
    for start, duration in ((0, 10), (20, 10), (40, 11), (100, 13), (120, 12), (140, 14), (196, 10)):
        export.kernel(start * US, (start + duration) * US, GEMM, shape=small)
    export.kernel(160 * US, 190 * US, GEMM, shape=KernelShape(grid=(9, 1, 1)))
    export.kernel(100 * US, 200 * US, ALL_REDUCE, stream=9)

    found = contention(tmp_path, export)

    (gpu,) = found.contention
    # 13 + 12 + 14 us were hidden under them, for which each takes 3 us longer
    assert gpu.overlap == Overlap(3, 39 * US, 9 * US, 30 * US)
    assert gpu.hidden_ns == (39 + 30 + 4) * US
    assert found.slowed_kernels == (
        SlowedKernel("gpu0", GEMM, text_hash(GEMM), (4, 2, 1), (256, 1, 1), 3, 10 * US, 3, 13 * US, 9 * US),
    )


def test_kernels_that_differ_when_they_are_alone_are_not_alike(tmp_path: Path) -> None:
    # products of one grid may be of any depth: beside the collective ran the deeper ones, which says nothing
    export = Export()
    for start, duration in ((0, 10), (20, 10), (40, 30), (100, 30), (140, 30), (180, 30)):
        export.kernel(start * US, (start + duration) * US, GEMM)
    export.kernel(100 * US, 300 * US, ALL_REDUCE, stream=9)

    (gpu,) = contention(tmp_path, export).contention

    assert gpu.overlap is None


def test_without_communication_nothing_contends(tmp_path: Path) -> None:
    found = analyze_exports(tmp_path, Export().kernel(0, 10, GEMM)).results.get(Contention)

    assert isinstance(found, Skipped)
    assert found.reason == "no communication kernel ran"


@pytest.mark.parametrize("file_format", FileFormat)
def test_a_slowdown_that_was_planted_is_found(tmp_path: Path, file_format: FileFormat) -> None:
    request = Request(scenario=find_scenario("contention"), rank_count=2, step_count=4, file_format=file_format)
    generated = generate(request)
    paths = [export.write(tmp_path / name) for name, export in generated.exports.items()]

    gpus = result_of(analyze(paths, AnalyzeOptions()), Contention).contention

    for gpu, rank in zip(gpus, generated.truth.ranks, strict=True):
        assert gpu.overlap is not None
        # a fifth of a kernel that takes 1.25 times as long; durations vary by 2 %
        assert rank.slowed_ns == pytest.approx(0.2 * gpu.hidden_ns, rel=0.01)
        assert gpu.overlap.slowdown_ns == pytest.approx(0.2 * gpu.overlap.compared_ns, rel=0.02)
        assert gpu.overlap.compared_ns > 0.7 * gpu.hidden_ns
        assert gpu.queued == Waits(0, 0)


works = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 30), st.integers(0, 12), st.sampled_from([7, 8, 9])), max_size=10
)


@settings(deadline=None, max_examples=60)
@given(works)
def test_queued_communication_is_what_a_plain_look_at_all_pairs_finds(drawn: list[tuple[int, int, int, int]]) -> None:
    """Works called 4 us apart, each begun at once when its stream is free or some time later; stream 9 communicates."""
    calls, rows, free = Calls(), [], {7: 0, 8: 0, 9: 0}
    for place, (late, duration, slack, stream) in enumerate(drawn):
        called = 4 * place
        start = max(called + 1, free[stream]) + late + slack
        free[stream] = start + duration
        rows.append((called * US, start * US, free[stream] * US, stream))
        calls.kernel(called, start, free[stream], ALL_REDUCE if stream == 9 else GEMM, stream)
    if not rows:
        return
    with tempfile.TemporaryDirectory() as folder:
        job = build_job([read_trace(calls.export.write(Path(folder) / "rank0.sqlite"), ReadOptions())])
    [device], host = job.devices, job.idle.threads[0].host

    streams, window_ns = streams_of_work(job.traces, device.activities), (0, 10**9)
    found = queued_communication(called_work(device.activities, streams, host, window_ns))

    delays = {
        int(start): int(delay) for start, delay in zip(found.start_ns, found.start_ns - found.ready_ns, strict=True)
    }
    assert delays == _plainly(rows)


def _plainly(rows: list[tuple[int, int, int, int]]) -> dict[int, int]:
    delays = {}
    for called, start, _, stream in rows:
        ended = [row for row in rows if row[2] <= start]
        if stream != 9 or not ended:
            continue
        # of several that end at once the one that began last stands last
        last = max(ended, key=lambda row: (row[2], row[1]))
        before = [row[2] for row in ended if row[0] < called or row[3] == stream]
        ready = max([called + 1, *before])
        if last[3] != 9 and start - last[2] <= AT_ONCE_NS and last[0] > called and start - ready >= SHORTEST_DELAY_NS:
            delays[start] = start - ready
    return delays
