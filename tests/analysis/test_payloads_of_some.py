"""Runs of which only some reports hold NCCL's payloads: what names no communicator may be of one that others name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.simulation.payload import Payload, PayloadSchema
from tests.analysis.nccl_traces import ALL_REDUCE, COMMUNICATOR, MS, SEND_RECV, job, launched
from tests.runs import result_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from nsysan.model.run import Run

OTHER = COMMUNICATOR + 1
STARTS_MS = (0, 0, 0, 30)
"""C15: an all-reduce of 300 MB that ends at 33 ms on all four ranks, the last of which is late."""


def reduced(folder: Path, named: Mapping[int, int], *, rank_count: int | None) -> Run:
    """A report a rank; those in ``named`` have payloads with that communicator, and its making if it has a size."""
    paths = []
    for rank, start_ms in enumerate(STARTS_MS):
        name = named.get(rank)
        made = name if rank_count is not None else None
        export = job(100 + rank, communicator=made, rank_count=rank_count, first_rank=rank % (rank_count or 4))
        payload = None if name is None else Payload(PayloadSchema.ALL_REDUCE, (name, 300_000_000, 0))
        # the call lies before the kernel of the ranks that come early
        span_ns = ((10 + start_ms) * MS, 43 * MS)
        launched(export, 100 + rank, 5 * MS, span_ns, ALL_REDUCE, {"ncclAllReduce": payload})
        paths.append(export.write(folder / f"rank{rank}.sqlite"))
    return analyze(paths, AnalyzeOptions())


def rows_of(run: Run) -> tuple[CollectiveRow, ...]:
    return result_of(run, Collectives).collectives


@pytest.mark.parametrize("named", [(0,), (0, 1), (1, 3), (0, 1, 2)])
@pytest.mark.parametrize("rank_count", [4, None])
def test_ranks_that_name_nothing_are_of_the_communicator_that_ends_with_them(
    tmp_path: Path, named: tuple[int, ...], rank_count: int | None
) -> None:
    run = reduced(tmp_path, dict.fromkeys(named, COMMUNICATOR), rank_count=rank_count)

    # 3 ms of transfer; 300 MB in 3 ms are 100 GB/s, times 2 (4 - 1) / 4
    [row] = rows_of(run)
    assert (row.communicator, row.ranks, row.bytes) == (f"0x{COMMUNICATOR:016x}", (0, 1, 2, 3), 300_000_000)
    assert (row.transfer_ns, row.wait_by_rank_ns) == (3 * MS, (30 * MS, 30 * MS, 30 * MS, 0))
    assert row.busbw_bytes_per_s == pytest.approx(150e9)
    [note] = [note for note in run.notes if note.id == "communicators_of_some"]
    nameless = ", ".join(f"rank{rank}.sqlite" for rank in range(4) if rank not in named)
    assert f"({nameless})" in note.sentence


def test_two_communicators_that_end_together_have_no_bandwidth(tmp_path: Path) -> None:
    # of ranks 0 and 1, and of 2 and 3; ranks 1 and 3 name neither
    run = reduced(tmp_path, {0: COMMUNICATOR, 2: OTHER}, rank_count=2)

    [row] = rows_of(run)
    assert (row.communicator, row.ranks, row.complete_count) == (None, (0, 1, 2, 3), 1)
    # of how many ranks it is, which the factor needs, is not known
    assert (row.algbw_bytes_per_s, row.busbw_bytes_per_s) == (100e9, None)


def test_where_all_name_theirs_there_is_no_note(tmp_path: Path) -> None:
    run = reduced(tmp_path, {0: COMMUNICATOR, 1: COMMUNICATOR, 2: OTHER, 3: OTHER}, rank_count=2)

    assert {row.ranks: row.transfer_ns for row in rows_of(run)} == {(0, 1): 33 * MS, (2, 3): 3 * MS}
    assert "communicators_of_some" not in {note.id for note in run.notes}


def test_messages_to_all_of_which_some_tell_their_peers(tmp_path: Path) -> None:
    paths = []
    for rank, start_ms in enumerate((10, 20, 26)):
        export = job(100 + rank, communicator=COMMUNICATOR if rank == 0 else None, rank_count=3)
        calls = {
            f"{call}#{peer}": Payload(schema, (COMMUNICATOR, 1_000_000, peer)) if rank == 0 else None
            for peer in {0, 1, 2} - {rank}
            for call, schema in (("ncclSend", PayloadSchema.SEND), ("ncclRecv", PayloadSchema.RECV))
        }
        launched(export, 100 + rank, 5 * MS, (start_ms * MS, 30 * MS), SEND_RECV, calls)
        paths.append(export.write(tmp_path / f"rank{rank}.sqlite"))

    [row] = rows_of(analyze(paths, AnalyzeOptions()))

    assert (row.ranks, row.transfer_ns, row.wait_by_rank_ns) == ((0, 1, 2), 4 * MS, (16 * MS, 6 * MS, 0))


def test_a_message_whose_other_end_names_nothing_is_told_so(tmp_path: Path) -> None:
    paths = []
    for rank, call in enumerate(("ncclSend", "ncclRecv", "ncclRecv", "ncclSend")):
        export = job(100 + rank, communicator=COMMUNICATOR if rank == 0 else None, rank_count=4)
        payload = Payload(PayloadSchema.SEND, (COMMUNICATOR, 1_000_000, 1)) if rank == 0 else None
        launched(export, 100 + rank, 5 * MS, (10 * MS, (12 + rank) * MS), SEND_RECV, {call: payload})
        paths.append(export.write(tmp_path / f"rank{rank}.sqlite"))

    unresolved = {row.ranks: row.unresolved for row in rows_of(analyze(paths, AnalyzeOptions()))}

    assert unresolved[0,] == "1 of its 2 ranks recorded nothing that names it"
