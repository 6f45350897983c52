"""The program's ranges: times of each name, and the tree from the top down."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.ranges import OperatorTimes, RangeNode, Ranges
from nsysan.report.elements import Cell, Table
from nsysan.report.sections.ranges import DEEPEST, SECTION, RangesView
from tests.report.recorded import MS, RANGES
from tests.report.runs import run_of


def view_of(ranges: Ranges) -> RangesView:
    view = SECTION.build(run_of(ranges))
    assert isinstance(view, RangesView)
    return view


def shown(table: Table) -> list[list[str]]:
    return [[cell.text for cell in row] for row in table.rows]


def test_the_heading_names_what_launches_most_itself_or_else_what_takes_the_host_longest() -> None:
    no_gpu_work = tuple(replace(row, gpu_self_ns=None) for row in RANGES.ranges)

    assert view_of(RANGES).heading == "Most GPU work is launched in “forward” itself: 900.000 ms"
    assert view_of(replace(RANGES, ranges=no_gpu_work)).heading == "Most host time is spent in “step *”: 500.000 ms"


def test_of_names_with_as_much_time_none_is_named_alone() -> None:
    first, second, _ = RANGES.ranges
    equal = (replace(first, gpu_self_ns=3 * MS), replace(second, gpu_self_ns=3 * MS))

    heading = view_of(replace(RANGES, ranges=equal)).heading
    assert heading == "Most GPU work is launched in each of 2 names itself: 3.000 ms"


def test_each_name_has_its_times_and_what_is_not_nested_has_no_time_of_its_own() -> None:
    table = view_of(RANGES).tables[0]

    assert shown(table) == [
        ["step *", "5", "500.000 ms", "100.000 ms", "900.000 ms", "0 ns", "5.000 ms", ""],
        ["forward", "5", "400.000 ms", "400.000 ms", "900.000 ms", "900.000 ms", "20.000 ms", "model"],
        ["request *", "9", "300.000 ms", "not nested", "50.000 ms", "not nested", "0 ns", ""],
    ]
    assert [row[0].note for row in table.rows] == [
        "1 range still open at the end",
        "domain model",
        "start/end, not nested; 7.000 ms of GPU time is ambiguous",
    ]
    assert table.note == "1 more name with less time is left out."


def test_an_operator_says_which_inputs_take_most_and_a_range_its_categories() -> None:
    shapes = (OperatorTimes("[[8, 4], [4, 2]]", 3, 1, 5 * MS), OperatorTimes("[[2, 2]]", 3, 1, MS))
    rows = (
        replace(RANGES.ranges[1], shapes=shapes, shape_count=5),
        replace(RANGES.ranges[1], shapes=shapes[:1], shape_count=1, categories=("data", "model"), domain="domain 2"),
    )

    assert [row[0].note for row in view_of(replace(RANGES, ranges=rows)).tables[0].rows] == [
        "domain model; inputs [[8, 4], [4, 2]], 5.000 ms of GPU time and 4 other shapes",
        "domain 2; category data and model; inputs [[8, 4], [4, 2]], 5.000 ms of GPU time",
    ]


def test_the_tree_has_children_below_their_parents_and_the_longest_first() -> None:
    table = view_of(RANGES).tables[1]

    assert [(row[0].text, row[0].depth) for row in table.rows] == [
        ("step *", 0),
        ("forward", 1),
        ("layer *", 2),
        ("backward", 1),
        ("setup", 0),
    ]
    assert table.rows[1][0] == Cell("forward", "domain model", style="name", depth=1)
    assert [bar.segments[0].width for row in table.rows if (bar := row[1].bar)] == ["100%", "60%", "40%", "20%", "16%"]
    assert [[cell.text for cell in row[-3:]] for row in table.rows] == [
        ["0", "", ""],
        ["1", "step *", "model"],
        ["2", "forward", ""],
        ["1", "step *", ""],
        ["0", "", ""],
    ]
    assert [[cell.text for cell in row[3:7]] for row in table.rows] == [
        ["500.000 ms", "100.000 ms", "900.000 ms", "0 ns"],
        ["300.000 ms", "100.000 ms", "900.000 ms", "0 ns"],
        ["200.000 ms", "200.000 ms", "900.000 ms", "900.000 ms"],
        ["100.000 ms", "100.000 ms", "0 ns", "0 ns"],
        # as saved before self times were told
        ["80.000 ms", "not told", "0 ns", "not told"],
    ]
    assert table.is_ordered
    assert table.note == "2 more paths with less time are left out."


def test_a_nest_may_be_as_deep_as_the_tree_is_long() -> None:
    chain = tuple(RangeNode(place - 1 if place else None, f"level {place}", None, 1, MS, 0) for place in range(5_000))
    rows = view_of(replace(RANGES, range_tree=chain)).tables[1].rows

    assert [row[0].depth for row in rows[:12]] == [0, 1, 2, 3, 4, 5, 6, 7, 8, DEEPEST, DEEPEST, DEEPEST]
    assert len(rows) == 5_000


def test_ranges_that_hold_nothing_have_no_section() -> None:
    assert SECTION.build(run_of(Ranges((), 0, (), 0))) is None
