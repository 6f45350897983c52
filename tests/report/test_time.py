"""Where the time goes: the partition's bars and tables, by figures that can be added up."""

from __future__ import annotations

from decimal import Decimal

from msgspec.structs import replace

from nsysan.analysis.gpu_time import GpuTime
from nsysan.model.partition import PartTimes
from nsysan.model.results import Skipped
from nsysan.report.elements import Bar, Cell, Segment
from nsysan.report.partition import worst_gpus
from nsysan.report.partition_tables import exact_ms
from nsysan.report.section import Unanswered
from nsysan.report.sections.time import SECTION, TimeView
from tests.report.gpu_times import FIRST_TIME, ONE_GPU, TWO_GPUS, device, gpu, gpu_time
from tests.report.runs import full_run, run_of


def view_of(result: GpuTime | Skipped) -> TimeView:
    view = SECTION.build(run_of(result))
    assert isinstance(view, TimeView)
    return view


def rows_of(view: TimeView, table_id: str) -> list[list[str]]:
    table = next(table for table in view.tables if table.id == table_id)
    return [[cell.text for cell in row] for row in (*table.rows, *table.footers)]


def test_the_heading_of_one_gpu_gives_times() -> None:
    # 600 + 100 ms of compute, 150 of communication, 50 of copies, 100 idle
    assert view_of(ONE_GPU).heading == (
        "Of 1.000 s the GPU computes for 700.000 ms, communicates unhidden for 150.000 ms, copies unhidden for "
        "50.000 ms and idles for 100.000 ms"
    )


def test_the_heading_of_several_gpus_gives_mean_shares() -> None:
    # the means of 70 and 60, of 15 and 10, of 5 and 5, of 10 and 25
    assert view_of(TWO_GPUS).heading == (
        "On average GPUs compute for 65.0 %, communicate unhidden for 12.5 %, copy unhidden for 5.0 % and idle for "
        "17.5 % of the window"
    )


def test_parts_that_took_no_time_are_left_out_of_the_heading_but_compute_and_idle_are_said() -> None:
    view = view_of(gpu_time((gpu("gpu0", PartTimes(0, 0, 0, 0, 4_000, 0, 0)),)))

    assert (
        view.heading == "Of 4.000 µs the GPU computes for 0 ns, communicates unhidden for 4.000 µs and idles for 0 ns"
    )


def test_shares_that_round_to_nothing_are_left_out_of_the_heading_too() -> None:
    # 0.04 % of copies
    times = PartTimes(7_000, 0, 0, 0, 0, 4, 2_996)

    assert view_of(gpu_time((gpu("gpu0", times), gpu("gpu1", times)))).heading == (
        "On average GPUs compute for 70.0 % and idle for 30.0 % of the window"
    )


def test_the_bar_holds_the_parts_in_their_order_and_leaves_out_empty_ones() -> None:
    assert view_of(TWO_GPUS).bar.segments == (
        Segment("0%", "55%", "compute_only"),
        Segment("55%", "10%", "overlapped"),
        Segment("65%", "12.5%", "exposed_communication"),
        Segment("77.5%", "5%", "exposed_copy"),
        Segment("82.5%", "17.5%", "idle"),
    )
    assert view_of(TWO_GPUS).bar.label == (
        "Shares of the window: compute only 55.0 %, overlapped 10.0 %, fused 0.0 %, opaque graph 0.0 %, "
        "exposed communication 12.5 %, exposed copy 5.0 % and idle 17.5 %"
    )


def test_the_legend_gives_the_time_of_one_gpu_and_the_range_over_several() -> None:
    one = [(entry.label, entry.share, entry.detail) for entry in view_of(ONE_GPU).legend]
    two = [(entry.label, entry.share, entry.detail) for entry in view_of(TWO_GPUS).legend]

    assert one[0] == ("compute only", "60.0", "600.000 ms")
    assert one[2] == ("fused", "0.0", "0 ns")
    assert two[0] == ("compute only", "55.0", "50.0 to 60.0 %")
    assert two[1] == ("overlapped", "10.0", "10.0 %")


def test_the_table_gives_every_nanosecond_and_its_rows_add_up_to_the_window() -> None:
    odd = gpu_time((gpu("gpu0", PartTimes(1_234_567_891, 1, 0, 0, 20, 300, 1_000_000)),))
    (row,) = rows_of(view_of(odd), "partition")

    assert row == [
        "gpu0", "1,234.567891", "0.000001", "0.000000", "0.000000", "0.000020", "0.000300", "1.000000", "1,235.568212",
    ]  # fmt: skip
    *parts, window = (Decimal(cell.replace(",", "")) for cell in row[1:])
    assert sum(parts) == window


def test_several_gpus_have_their_mean_and_worst_shares_below() -> None:
    rows = rows_of(view_of(TWO_GPUS), "partition")

    assert rows[2:] == [
        ["mean share", "55.0 %", "10.0 %", "0.0 %", "0.0 %", "12.5 %", "5.0 %", "17.5 %", ""],
        ["worst share", "50.0 %", "10.0 %", "0.0 %", "0.0 %", "15.0 %", "5.0 %", "25.0 %", ""],
    ]


def test_the_busy_table_says_no_communication_instead_of_an_overlap_of_zero() -> None:
    lonely = gpu_time((gpu("gpu0", PartTimes(90, 0, 0, 0, 0, 0, 10)),))

    assert rows_of(view_of(TWO_GPUS), "busy")[0] == [
        "gpu0", "2.000000000s", "70.0 %", "90.0 %", "40.0 %", "1.000 s", "3", "50.000 ms",
    ]  # fmt: skip
    assert rows_of(view_of(lonely), "busy")[0][4] == "no communication"


def test_communication_beside_an_opaque_graph_is_a_range_with_both_ends() -> None:
    # 10 ns of communication alone and 20 ns of graph that may have hidden more
    graph = gpu_time((gpu("gpu0", PartTimes(70, 0, 0, 20, 10, 0, 0)),))
    view = view_of(graph)
    busy = next(table for table in view.tables if table.id == "busy")

    assert rows_of(view, "partition")[0][5] == "0.000010"
    assert [column.label for column in busy.columns][5] == "exposed comm., at most"
    assert busy.rows[0][5] == Cell("30 ns", value=30)
    assert "runs opaque graphs for 20 ns" in view.heading


def test_devices_say_what_lies_outside_the_window_and_never_a_zero_for_an_unknown_end() -> None:
    first = device("r0/p100/d0", ONE_GPU.gpus[0], trail_idle_ns=None)
    view = view_of(gpu_time((replace(ONE_GPU.gpus[0], devices=("r0/p100/d0",)),), (first,)))

    assert rows_of(view, "devices") == [
        [
            "r0/p100/d0",
            "gpu0",
            "rank0.sqlite",
            "100",
            "0",
            "2.000000000s",
            "1.000 s",
            "2.000 s",
            "capture length unknown",
        ]
    ]
    assert [table.id for table in view.tables] == ["partition", "busy", "devices"]


def test_a_gpu_that_processes_share_shows_the_partition_each_would_see() -> None:
    shared = gpu("gpu0", FIRST_TIME, devices=("a", "b"))
    alone = PartTimes(400_000_000, 0, 0, 0, 0, 0, 600_000_000)
    view = view_of(gpu_time((shared,), (device("a", shared, time=alone), device("b", shared, pid=101))))

    assert rows_of(view, "device-partition")[0] == [
        "a", "400.000000", "0.000000", "0.000000", "0.000000", "0.000000", "0.000000", "600.000000", "1,000.000000",
    ]  # fmt: skip


def test_excluded_records_of_all_devices_are_counted_by_why() -> None:
    first, second = TWO_GPUS.devices
    view = view_of(
        replace(
            TWO_GPUS,
            devices=(
                replace(first, excluded_records={"no_time": 2, "negative_length": 0}),
                replace(second, excluded_records={"no_time": 3}),
            ),
        )
    )

    assert rows_of(view, "excluded") == [["no time", "5"]]


def test_gpus_beyond_the_page_compute_more_than_those_shown_but_for_the_busiest() -> None:
    times = [gpu(f"gpu{index}", PartTimes(100 - index, 0, 0, 0, 0, 0, index + 1)) for index in range(20)]
    view = view_of(gpu_time(times))

    assert [entry.id for entry in worst_gpus(times, 3)] == ["gpu0", "gpu19", "gpu18"]
    assert worst_gpus(times[:2], 2) == tuple(times[:2])
    assert len(rows_of(view, "gpu-bars")) == 16
    assert (
        view.choice == "Shown are the GPU that computes most and the 15 that compute least, of 20; run.json holds all."
    )
    assert view_of(TWO_GPUS).choice is None


def test_names_of_gpus_are_repeated_only_where_they_differ() -> None:
    other = replace(TWO_GPUS.gpus[1], name="NVIDIA A100")
    mixed = view_of(replace(TWO_GPUS, gpus=(TWO_GPUS.gpus[0], other)))

    assert [row[0].note for row in view_of(TWO_GPUS).tables[1].rows] == [None, None]
    assert [row[0].note for row in mixed.tables[1].rows] == ["NVIDIA H100 80GB HBM3", "NVIDIA A100"]


def test_a_gpu_without_a_window_has_no_shares_and_lowers_no_mean() -> None:
    view = view_of(gpu_time((gpu("gpu0", FIRST_TIME), gpu("gpu1", PartTimes(0, 0, 0, 0, 0, 0, 0)))))

    assert view.heading == (
        "On average GPUs compute for 70.0 %, communicate unhidden for 15.0 %, copy unhidden for 5.0 % and idle for "
        "10.0 % of the window"
    )
    assert (view.legend[0].share, view.legend[0].detail) == ("60.0", "60.0 %")
    assert rows_of(view, "gpu-bars")[1] == ["gpu1", "", "no window", "no window"]
    assert view.tables[0].rows[1][1].bar == Bar(())
    assert view.tables[1].rows[1] == (Cell("gpu1"), *[Cell("")] * 7, Cell("0.000000", "no window", 0))
    assert rows_of(view, "busy")[1][2:4] == ["no window", "no window"]


def test_without_gpu_work_the_section_says_so() -> None:
    view = SECTION.build(run_of(Skipped("gpu_time", "no CUDA table", None)))

    assert isinstance(view, Unanswered)
    assert view.heading == "This run cannot say where the GPU time went"


def test_exact_milliseconds_keep_every_digit() -> None:
    assert [exact_ms(value) for value in (0, 1, 999_999, 1_000_000, 12_848_944_905)] == [
        "0.000000", "0.000001", "0.999999", "1.000000", "12,848.944905",
    ]  # fmt: skip


def test_the_full_run_shows_bars_only_where_there_is_more_than_one_gpu() -> None:
    several = SECTION.build(full_run())

    assert isinstance(several, TimeView)
    assert [table.id for table in several.tables] == ["gpu-bars", "partition", "busy", "devices"]
    assert [table.id for table in view_of(ONE_GPU).tables] == ["partition", "busy", "devices"]
