"""Every record of GPU work finds the call that a search through all calls finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from nsysan.attribution.launch import NO_CALL, join_launches
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.columns import narrowed
from nsysan.model.tables import ABSENT, Kernels, RuntimeCalls
from nsysan.model.trace import PROCESS_BITS, Trace
from nsysan.synth.export import Export

PROCESSES = (1 << 48, 2 << 48, ABSENT)
DENSE, SPARSE = st.sampled_from([ABSENT, 0, 7, 8, 9, 11]), st.sampled_from([1, 1 << 20, 1 << 40, (1 << 40) + 1, -4])
Call = tuple[int, int, int, int]
"""Begin, process, correlation id, event class."""


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    path = Export().kernel(0, 5, "gemm").write(tmp_path_factory.mktemp("launch") / "rank0.sqlite")
    return read_trace(path, ReadOptions())


def calls_of(ids: st.SearchStrategy[int]) -> st.SearchStrategy[list[Call]]:
    classes = st.sampled_from([0, 1, ABSENT])
    return st.lists(st.tuples(st.integers(0, 5), st.sampled_from(PROCESSES), ids, classes), max_size=12)


def with_records(trace: Trace, calls: list[Call], work: list[tuple[int, int]]) -> Trace:
    starts, processes, ids, classes = np.array(calls, np.int64).reshape(-1, 4).T
    threads = np.where(processes == ABSENT, ABSENT, processes + np.arange(len(calls)))
    runtime = RuntimeCalls(starts, starts + 1, narrowed("global_tid", threads), ids, np.zeros_like(ids), classes)
    pids, work_ids = np.array(work, np.int64).reshape(-1, 2).T
    zeros = np.zeros_like(pids)
    kernels = Kernels(zeros, zeros + 1, narrowed("global_pid", pids), zeros, zeros, zeros, work_ids, zeros)
    return replace(trace, runtime_calls=runtime, kernels=kernels)


def searched(calls: list[Call], process: int, correlation_id: int) -> int:
    rows = [
        row
        for row, (_, of, own_id, _) in enumerate(calls)
        if 0 < own_id == correlation_id <= 1 << 40 and of & PROCESS_BITS == process
    ]
    return min(rows, key=lambda row: (calls[row][3] == ABSENT, calls[row][3], calls[row][0], row), default=NO_CALL)


@pytest.mark.parametrize("ids", [DENSE, SPARSE], ids=["ids count up", "ids far apart"])
def test_the_call_is_the_one_that_a_search_finds(trace: Trace, ids: st.SearchStrategy[int]) -> None:
    @given(calls_of(ids), st.lists(st.tuples(st.sampled_from(PROCESSES), ids), max_size=8))
    def join_and_search(calls: list[Call], work: list[tuple[int, int]]) -> None:
        found = join_launches(with_records(trace, calls, work))
        expected = {(process, own_id): searched(calls, process, own_id) for process in PROCESSES for _, own_id in work}
        expected |= {(of & PROCESS_BITS, own): searched(calls, of & PROCESS_BITS, own) for _, of, own, _ in calls}
        assert found.rows["kernels"].tolist() == [expected[of] for of in work]
        assert found.is_repeated.tolist() == [
            expected[of & PROCESS_BITS, own_id] not in (row, NO_CALL) for row, (_, of, own_id, _) in enumerate(calls)
        ]

    join_and_search()
