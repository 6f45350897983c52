"""The section of ceilings: what it says, where the dots lie, and that nothing above a ceiling is good news."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.ceilings import HeldAgainst
from nsysan.analysis.gemms import GemmRoof, Gemms
from nsysan.model.ceilings import Dtype
from nsysan.model.results import Skipped
from nsysan.report.formats.text import render_text
from nsysan.report.roofline_chart import HEIGHT, roofline
from nsysan.report.sections.roofline import SECTION, RooflineView, caution_sentences
from tests.report.ceiling_results import GEMMS, HELD, ROW
from tests.report.runs import run_of

NEEDS_SHAPES = Skipped(Gemms.id, "FLOP/s needs shapes", "Record them.")


def view(*results: Gemms | HeldAgainst | Skipped) -> RooflineView:
    found = SECTION.build(run_of(*results))
    assert isinstance(found, RooflineView)
    return found


def test_what_it_says() -> None:
    found = view(GEMMS, HELD)
    assert found.heading == "Matrix products lost 63.788 µs of 5.600 ms"
    assert found.sentences == (
        "Shapes are known of 75.0 % of the time of matrix products.",
        "The mean steady step loses 20.000 µs in them.",
        "1 shape left out: 801.7 TFLOP/s would be 111.4 % of it.",
        "SIMULATED ceilings, simulated from: a sheet.",
        "The clock differs.",
        "They tell nothing of gpu1: measured on A, recorded on B.",
        "Too low a ceiling, for the run was faster: copies host_to_device. Measure again before trusting the others.",
    )


def test_nothing_above_a_ceiling_is_good_news() -> None:
    gemms, links = view(GEMMS, HELD).tables
    assert [(row[2].text, row[2].note) for row in gemms.rows] == [
        ("687.0 TFLOP/s", "95.4 %"),
        ("not believable", None),
        ("721.0 TFLOP/s", "ceiling too low"),
    ]
    assert links.rows[0][4].note == "ceiling too low"


def test_without_shapes_it_says_what_is_needed() -> None:
    found = view(NEEDS_SHAPES, HELD)
    assert found.heading == "How fast the matrix products were is not known"
    assert found.sentences[0] == "FLOP/s needs shapes."
    assert found.charts == ()


def test_without_products_and_ceilings_there_is_no_section() -> None:
    assert SECTION.build(run_of(NEEDS_SHAPES)) is None


def test_the_roof_has_its_knee_where_memory_is_fast_enough() -> None:
    """100 TFLOP/s and 1 TB/s meet at 100 operations a byte; a product of 8192^3 has 8192 / 3 and lies on the roof.

    From a quarter of the knee to twice the product, in logarithms, the knee has log 4 of log (2 * 8192 / 3 / 25).
    """
    roof = GemmRoof(Dtype.BF16, 100e12, "measured", 1e12, "measured")
    chart = roofline(roof, [replace(ROW, m=8192, n=8192, k=8192, flop_per_s=100e12)])
    assert chart is not None
    slope, top = chart.lines
    assert (slope.x2, slope.y2) == (top.x1, top.y1) == ("25.736%", "24")
    assert (top.x2, top.y1) == ("100%", top.y2)
    (dot,) = chart.dots
    assert (dot.x, dot.y) == ("87.132%", top.y1)
    assert (slope.is_promised, top.is_promised) == (False, False)


def test_both_axes_have_round_figures_with_their_units() -> None:
    roof = GemmRoof(Dtype.BF16, 100e12, "measured", 1e12, "measured")
    chart = roofline(roof, [replace(ROW, m=8192, n=8192, k=8192, flop_per_s=50e12)])
    assert chart is not None
    assert [line.label for line in chart.grid] == ["20 TFLOP/s", "50 TFLOP/s", "100 TFLOP/s"]
    assert (chart.grid[0].y, chart.grid[-1].y) == (str(HEIGHT), "24")
    assert [tick.label for tick in chart.ticks] == ["100", "1,000 FLOP/B"]


def test_what_is_a_thousandth_of_the_roof_or_less_lies_at_the_bottom() -> None:
    roof = GemmRoof(Dtype.BF16, 100e12, "measured", 1e12, "measured")
    chart = roofline(roof, [replace(ROW, flop_per_s=1e9)])
    assert chart is not None
    assert [line.label for line in chart.grid] == [f"{level} TFLOP/s" for level in ("0.01", "0.1", "1", "10", "100")]
    assert [dot.y for dot in chart.dots] == [str(HEIGHT)]


def test_what_was_not_measured_is_dashed() -> None:
    """The mock has measured ceilings solid and data sheets dashed; simulated ones are no measurements either."""
    roof = GemmRoof(Dtype.BF16, 100e12, "NVIDIA H100 data sheet", 1e12, "measured (imported) stream")
    chart = roofline(roof, [ROW])
    simulated = roofline(replace(roof, flop_source="simulated, not measured: bf16 8192 x 8192 x 8192"), [ROW])
    assert chart is not None
    assert simulated is not None
    assert [line.is_promised for line in chart.lines] == [False, True]
    assert [line.is_promised for line in simulated.lines] == [False, True]


def test_no_roof_without_memory_or_products() -> None:
    roof = GemmRoof(Dtype.BF16, 100e12, "measured", None, None)
    assert roofline(roof, [ROW]) is None
    assert roofline(replace(roof, memory_bytes_per_s=1e12), [replace(ROW, flop_per_s=None)]) is None


def test_what_to_know_of_ceilings_stands_in_the_text_too() -> None:
    run = run_of(GEMMS, HELD)

    assert list(caution_sentences(run)) == [
        "SIMULATED ceilings, simulated from: a sheet.",
        "The clock differs.",
        "They tell nothing of gpu1: measured on A, recorded on B.",
        "Too low a ceiling, for the run was faster: copies host_to_device. Measure again before trusting the others.",
        "1 shape left out: 801.7 TFLOP/s would be 111.4 % of it.",
    ]
    assert "They tell nothing of gpu1: measured on A, recorded on B." in " ".join(render_text(run).split())
