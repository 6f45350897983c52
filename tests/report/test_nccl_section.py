"""What NCCL's logs and nccl-tests say, on the page and in the text."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nsysan.analysis.nccl_logs import NcclLogs, NcclLogSummary
from nsysan.analysis.nccl_tests import NcclTests
from nsysan.report.formats.text import render_text
from nsysan.report.sections.nccl import SECTION, NcclView, nccl_sentences
from tests.report.nccl_words import LOG, NCCL_LOGS, NCCL_TESTS
from tests.report.runs import run_of


def view_of(*results: NcclLogs | NcclTests) -> NcclView:
    view = SECTION.build(run_of(*results))
    assert isinstance(view, NcclView)
    return view


def test_a_sentence_for_each_log_and_test() -> None:
    view = view_of(NCCL_LOGS, NCCL_TESTS)

    assert view.heading == (
        "NCCL 2.27.3+cuda12.9 names IB (2 ranks) and Socket (1 rank) on RoCE as its network; connections go over "
        "P2P/direct pointer (128), NET/Socket (4), says nccl.log"
    )
    test, used, omitted = view.sentences
    assert used == "The 2,000 lines about calls in nccl.log told more of 1,000 calls in the traces."
    assert omitted == "7 later calls in nccl.log were not read: there are too many."
    assert test == (
        "nccl-tests reached up to 338.820 GB/s of bus bandwidth with all reduce, as its bus factor tells, over 16 "
        "ranks on 2 nodes (NVIDIA H100 80GB HBM3), says table.txt."
    )


def test_tables_hold_networks_links_communicators_timings_and_sizes() -> None:
    log, timings, sizes = view_of(NCCL_LOGS, NCCL_TESTS).tables

    assert [[cell.text for cell in row[1:]] for row in log.rows] == [
        ["network", "IB", "2", "20"],
        ["network", "Socket", "1", "30"],
        ["link", "P2P/direct pointer", "128", "70"],
        ["link", "NET/Socket", "4", "80"],
        ["communicator", "0x00000000000013c3", "3", "unknown"],
    ]
    assert [row[2].note for row in log.rows] == [
        "ranks 0, 1; host 1",
        "ranks 2; host 2",
        None,
        None,
        "3 ranks, on 2 nodes, 16 channels, 16 trees, ring 0 1 2",
    ]
    [timing] = timings.rows
    assert [cell.text for cell in timing[1:]] == ["All reduce", "3", "1.074 GB", "668.800 ms", "3.200 GB/s"]
    assert [[cell.text for cell in row[1:]] for row in sizes.rows] == [
        ["1.049 MB", "out of place", "203.200 µs", "5.160 GB/s", "9.680 GB/s"],
        ["8.590 GB", "in place", "47.535 ms", "180.710 GB/s", "338.820 GB/s"],
    ]


@pytest.mark.parametrize(
    ("log", "sentence"),
    [
        (replace(LOG, process_count=0, used_call_count=0), "are of processes that are not in the traces"),
        (replace(LOG, used_call_count=0), "could not be placed"),
    ],
)
def test_why_lines_about_calls_told_nothing(log: NcclLogSummary, sentence: str) -> None:
    assert sentence in list(nccl_sentences(run_of(NcclLogs((log,)))))[1]


def test_the_text_says_the_same_and_without_evidence_there_is_no_section() -> None:
    text = " ".join(render_text(run_of(NCCL_LOGS, NCCL_TESTS)).split())
    assert "nccl-tests reached up to 338.820 GB/s" in text

    assert SECTION.build(run_of(NcclLogs(()), NcclTests(()))) is None
