"""Fits of the published two-node curve, and of curves that are what a fit presumes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.hardware.curve_fit import Fit, fit_pieces

EVIDENCE = Path(__file__).parents[2].parent / "shared" / "evidence" / "nccl-tests-2x8-H100.txt"


def published() -> tuple[list[int], list[float]]:
    """Sizes and out-of-place times in us."""
    if not EVIDENCE.exists():
        pytest.skip("the published curve is not at hand")
    rows = re.findall(r"^\s+(\d+)\s+\d+\s+float\s+sum\s+-1\s+([\d.]+)", EVIDENCE.read_text(), re.MULTILINE)
    assert len(rows) == 31
    return [int(size) for size, _ in rows], [float(time) for _, time in rows]


@pytest.mark.parametrize(
    ("pieces", "most", "rms"), [(1, 0.74, 0.30), (2, 0.14, 0.06), (3, 0.13, 0.03), (4, 0.09, 0.02)]
)
def test_the_published_curve(pieces: int, most: float, rms: float) -> None:
    """The errors that an independent fit of the same points has (calibration study, section 5.7)."""
    fit = fit_pieces(*published(), pieces)
    assert fit.error_most_frac == pytest.approx(most, abs=0.008)
    assert fit.error_rms_frac == pytest.approx(rms, abs=0.005)


def test_a_line_is_found_again() -> None:
    sizes = [1 << power for power in range(3, 30)]
    fit = fit_pieces(sizes, [20_000 + 0.002 * size for size in sizes], 1)
    assert fit.pieces[0].start_ns == pytest.approx(20_000)
    assert fit.pieces[0].ns_per_byte == pytest.approx(0.002)
    assert fit.error_most_frac == pytest.approx(0, abs=1e-9)


def test_two_protocols_are_cut_where_they_change() -> None:
    sizes = [1 << power for power in range(3, 30)]
    times = [5_000 + 0.02 * size if size <= 1 << 15 else 30_000 + 0.002 * size for size in sizes]
    fit = fit_pieces(sizes, times, 2)
    assert [(piece.first_bytes, piece.last_bytes) for piece in fit.pieces] == [(8, 1 << 15), (1 << 16, 1 << 29)]


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=8), st.integers(1, 3))
def test_no_start_or_rate_is_negative_and_more_pieces_fit_better(times: list[float], pieces: int) -> None:
    sizes = [1 << place for place in range(len(times))]
    fit = fit_pieces(sizes, times, pieces)
    assert all(piece.start_ns >= 0 and piece.ns_per_byte >= 0 for piece in fit.pieces)
    assert fit.error_rms_frac <= fit_pieces(sizes, times, 1).error_rms_frac + 1e-9
    assert fit.pieces[0].first_bytes == 1


def test_no_points_no_fit() -> None:
    with pytest.raises(ValueError, match="no fit"):
        fit_pieces([], [], 1)
    assert isinstance(fit_pieces([8], [5.0], 3), Fit)
