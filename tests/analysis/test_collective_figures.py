"""Collectives as figures: means per instance, of those alike whatever their communicator is called."""

from __future__ import annotations

from nsysan.analysis.collective_figures import collective_figures
from nsysan.analysis.collective_row import CollectiveRow
from nsysan.model.confidence import Confidence
from nsysan.model.purposes import Purpose


def _row(communicator: str, complete_count: int, transfer_ns: int | None, wait_ns: int | None) -> CollectiveRow:
    return CollectiveRow(
        kind="all_reduce",
        backend="nccl",
        communicator=communicator,
        purpose=Purpose.DATA_PARALLEL,
        purpose_confidence=Confidence.HIGH,
        ranks=(0, 1),
        nodes=None,
        dtype=None,
        stage=None,
        count=complete_count + 1,
        complete_count=complete_count,
        bytes=4_000_000,
        duration_ns=0,
        exposed_ns=0,
        transfer_ns=transfer_ns,
        wait_ns=wait_ns,
        wait_by_rank_ns=None,
        algbw_bytes_per_s=None,
        busbw_bytes_per_s=None,
        contended_frac=None,
        ceiling_bytes_per_s=None,
        ceiling_source=None,
        unresolved=None,
    )


def test_transfer_is_a_mean_over_instances_and_wait_over_ranks_as_well() -> None:
    figures = list(collective_figures([_row("0x1", 3, 300, 60), _row("0x2", 1, 500, 20), _row("0x3", 4, None, None)]))

    # (300 + 500) / 4 instances; (60 + 20) / 8 ranks of them; 4 + 2 + 5 in all
    assert [(one.topic.id, one.value) for one in figures] == [
        ("collective_transfers", 200.0),
        ("collective_waits", 10.0),
        ("collective_runs", 11),
    ]
    assert {one.key for one in figures} == {"all reduce (data_parallel) over 2 ranks of 4.000 MB"}


def test_what_is_known_of_no_instance_has_no_mean() -> None:
    assert [one.topic.id for one in collective_figures([_row("0x1", 0, None, None)])] == ["collective_runs"]
