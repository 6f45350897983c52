"""The small pieces: bars, axes, aligned columns and the wording of sentences."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.model.units import counted
from nsysan.report.axis import share_axis, time_axis
from nsysan.report.columns import aligned, cell_count, cut
from nsysan.report.elements import Bar, Cell, Column, Segment, Table, percent, single_bar, stacked_bar
from nsysan.report.prose import Phrase, capitalized, ended, fraction_or, listed, paired, plain, spelled, unbroken

NBSP = "\u00a0"


def test_segments_follow_each_other_and_empty_ones_keep_no_place() -> None:
    assert stacked_bar([("a", 0.25), ("b", 0.0), ("c", 0.75)], "words") == Bar(
        (Segment("0%", "25%", "a"), Segment("25%", "75%", "c")), "words"
    )


def test_a_bar_of_no_share_is_empty() -> None:
    assert single_bar("a", 0.0) == Bar((), None)


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0%"), (1.0, "100%"), (0.5, "50%"), (1 / 3, "33.333%"), (1e-9, "0%")]
)
def test_percentages_are_short(share: float, text: str) -> None:
    assert percent(share) == text


def test_a_table_refuses_a_row_that_has_not_a_cell_a_column() -> None:
    with pytest.raises(ValueError, match="table 't': 1 cells in a row of 2 columns"):
        Table("t", "caption", (Column("a"), Column("b")), ((Cell("only"),),))


def test_a_time_axis_has_round_times_and_the_exact_end() -> None:
    # 342.4 ms: steps of 50, and 350 would lie beyond
    assert [(tick.x, tick.label) for tick in time_axis(342_407_810)] == [
        ("0%", "0"),
        ("14.602%", "50"),
        ("29.205%", "100"),
        ("43.807%", "150"),
        ("58.41%", "200"),
        ("73.012%", "250"),
        ("87.615%", "300"),
        ("100%", "342.408 ms"),
    ]


@pytest.mark.parametrize(
    ("window_ns", "labels"),
    [
        (0, []),
        (1, ["0", "0.2", "0.4", "0.6", "0.8", "1 ns"]),
        (3_000, ["0", "0.5", "1", "1.5", "2", "2.5", "3.000 µs"]),
        (12_848_944_905, ["0", "2", "4", "6", "8", "10", "12.849 s"]),
        (3_600_000_000_000, ["0", "1,000", "2,000", "3,000", "3,600.000 s"]),
    ],
)
def test_axes_of_any_length_have_a_few_labels(window_ns: int, labels: list[str]) -> None:
    assert [tick.label for tick in time_axis(window_ns)] == labels


@given(st.integers(1, 10**15))
def test_ticks_never_touch(window_ns: int) -> None:
    places = [float(tick.x.rstrip("%")) for tick in time_axis(window_ns)]

    assert places[0] == 0
    assert places[-1] == 100
    assert all(later - earlier >= 10 for earlier, later in pairwise(places))


@given(st.integers(1, 10**12))
def test_on_a_phone_no_label_of_a_quarter_of_an_hour_touches_the_next(window_ns: int) -> None:
    width, character = 339, 7.7
    spans = []
    for tick in time_axis(window_ns):
        at, length = float(tick.x.rstrip("%")) / 100 * width, character * len(tick.label)
        before = {"start": 0.0, "middle": length / 2, "end": length}[tick.anchor]
        if not tick.is_crowded:
            spans.append((at - before, at - before + length))

    assert all(earlier[1] <= later[0] for earlier, later in pairwise(spans))


def test_a_share_axis_ends_at_the_whole() -> None:
    assert [tick.label for tick in share_axis()] == ["0", "20", "40", "60", "80", "100 %"]


def test_columns_are_aligned_and_the_first_gives_way() -> None:
    assert aligned([("name", "ms"), ("a_long_kernel_name", "1.5"), ("short", "12.25")], 20) == [
        "name              ms",
        "a_long_ker...    1.5",
        "short          12.25",
    ]


def test_wide_characters_take_two_cells() -> None:
    assert cell_count("核 é") == 5 - 1  # 2 for the ideogram, 1 each for the space and the letter
    assert cut("核核核核", 7) == "核核..."
    assert aligned([("核", "1"), ("ab", "22")], 80) == ["核   1", "ab  22"]


@given(st.lists(st.tuples(st.text(), st.text(max_size=9)), min_size=1), st.integers(20, 100))
def test_no_line_is_wider_than_asked(rows: list[tuple[str, str]], width: int) -> None:
    assert all(cell_count(line) <= max(width, 30) for line in aligned(rows, width))


def test_counts_agree_with_their_nouns() -> None:
    assert [counted(count, "gap") for count in (0, 1, 2365)] == ["0 gaps", "1 gap", "2,365 gaps"]
    assert [counted(count, "copy") for count in (1, 2)] == ["1 copy", "2 copies"]


@pytest.mark.parametrize(
    ("items", "text"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists_read_as_sentences(items: list[str], text: str) -> None:
    assert listed(items) == text


def test_two_figures_name_a_unit_they_share_once() -> None:
    assert paired("11.0 %", "to", "14.2 %") == "11.0 to 14.2 %"
    assert paired("294.405 ms", "of", "342.408 ms") == "294.405 of 342.408 ms"
    assert [paired(first, "of", "3.000 s") for first in ("5 ns", "5.000 ms", "2.000 s")] == [
        "5 ns of 3.000 s",
        "5.000 ms of 3.000 s",
        "2.000 of 3.000 s",
    ]


def test_names_are_spelled_as_words_and_unknown_shares_as_told() -> None:
    assert spelled("exposed_communication") == "exposed communication"
    assert [fraction_or(0.0, "none"), fraction_or(None, "none")] == ["0.0 %", "none"]


def test_figures_stay_beside_their_units_and_names_are_left_alone() -> None:
    assert unbroken("12.5 % of 3 ms, 24 GB/s") == f"12.5{NBSP}% of 3{NBSP}ms, 24{NBSP}GB/s"
    assert unbroken("gpu0 stood still, 8 streams") == "gpu0 stood still, 8 streams"


def test_sentences_begin_and_end_as_they_should() -> None:
    assert [ended("a"), ended("a."), ended("a?")] == ["a.", "a.", "a?"]
    assert [capitalized("nVTX"), capitalized("")] == ["NVTX", ""]
    assert plain((Phrase("idle for "), Phrase("5 %", "time"), Phrase("."))) == "idle for 5 %."
