"""What record_param_comms says of collectives, in the model's terms: S is the whole array."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.model.tables import ABSENT
from tests.ingest.reading import read, rows
from tests.ingest.torch_traces import annotation, event, written

MAIN_TID = 42 << 24 | 42


@pytest.mark.parametrize(
    ("name", "elements", "dtype", "kind", "size_bytes"),
    [
        ("allreduce", (6144, 6144), "Float", "all_reduce", 6144 * 4),
        ("_allgather_base", (100, 400), "BFloat16", "all_gather", 800),
        ("allgather_into_tensor_coalesced", (100, 400), "Half", "all_gather", 800),
        ("_reduce_scatter_base", (400, 100), "Float", "reduce_scatter", 1600),
        ("all_to_allv", (300, 500), "Byte", "all_to_all", 300),
        ("broadcast", (10, 10), "Long", "broadcast", 80),
        ("reduce", (10, 10), "Int", "reduce", 40),
        ("gather", (10, 0), "Float", "gather", 160),
        ("scatter", (0, 10), "Float", "scatter", 160),
        ("send", (10, 10), "Float8_e4m3fn", "send_recv", 10),
        ("barrier", (0, 0), "Byte", "barrier", 0),
        ("something_new", (10, 10), "Float", "unknown", 40),
        ("allreduce", (10, 10), "Float3", "all_reduce", ABSENT),
        ("allreduce", ("10", 10), "Float", "all_reduce", ABSENT),
    ],
)
def test_a_collective(  # noqa: PLR0913, PLR0917 -- one parameter a column of the table
    tmp_path: Path, name: str, elements: tuple[object, int], dtype: str, kind: str, size_bytes: int
) -> None:
    counts = {"In msg nelems": elements[0], "Out msg nelems": elements[1], "dtype": dtype, "Group size": 4}
    called = {"Collective name": name, "Process Group Name": "13", **counts}

    trace = read(written(tmp_path, event("cpu_op", "record_param_comms", 5, 2, thread=(42, 42), **called)))

    [(start_ns, end_ns, tid, kind_id, dtype_id, group_id, group_size, size, *peers)] = rows(trace.collective_calls)
    assert (start_ns, end_ns, tid, group_size, size) == (0, 2_000, MAIN_TID, 4, size_bytes)
    assert peers == [ABSENT, ABSENT, ABSENT]
    assert [trace.text(text_id) for text_id in (kind_id, dtype_id, group_id)] == [kind, dtype, "13"]


@pytest.mark.parametrize(
    ("arguments", "peers"),
    [
        ({"Collective name": "send", "Dst Rank": 1, "Src Rank": 0, "Seq": 7}, (1, ABSENT, 7)),
        ({"Collective name": "recv", "Dst Rank": 1, "Src Rank": 0}, (ABSENT, 0, ABSENT)),
        ({"Collective name": "allreduce", "Dst Rank": 1, "Seq": "7"}, (ABSENT, ABSENT, ABSENT)),
    ],
)
def test_who_a_message_is_for(tmp_path: Path, arguments: dict[str, object], peers: tuple[int, ...]) -> None:
    trace = read(written(tmp_path, event("cpu_op", "record_param_comms", 5, 2, thread=(42, 42), **arguments)))

    assert rows(trace.collective_calls, "sends_to", "receives_from", "sequence") == [peers]


@pytest.mark.parametrize("arguments", [{}, {"Collective name": "wait"}, {"Collective name": 7}])
def test_what_is_recorded_alike_and_is_none(tmp_path: Path, arguments: dict[str, object]) -> None:
    waiting = event("cpu_op", "record_param_comms", 5, 2, thread=(42, 42), **arguments)

    trace = read(written(tmp_path, waiting, annotation(1, 9)))

    assert trace.collective_calls is None
    assert len(rows(trace.nvtx_ranges)) == 2
