"""What a product can reach: exact, between shapes, roofline, data sheet."""

from __future__ import annotations

import pytest

from nsysan.hardware.answers import Ceiling, Level
from nsysan.hardware.data_sheets import sheet_named
from nsysan.hardware.gemm_ceilings import Product, gemm_ceiling, memory_ceiling, peak_ceiling
from nsysan.model.ceilings import Dtype, Origin, Regime
from tests.hardware.ceilings import ceilings, gemm, memory

SHEET = sheet_named("NVIDIA H100 80GB HBM3")
BF16 = Dtype.BF16


def test_flop_and_bytes_of_a_product() -> None:
    """C86: 2 x 8192 x 14336 x 4096 = 9.621e11."""
    product = Product(BF16, 8192, 14336, 4096)
    assert product.flop == 962_072_674_304
    # 2 (8192 x 4096 + 4096 x 14336 + 8192 x 14336)
    assert product.moved_bytes == 2 * (33_554_432 + 58_720_256 + 117_440_512)


def test_the_very_shape_is_exact_whichever_side_is_up() -> None:
    measured = ceilings(gemm=(gemm(8192, 14336, 4096, 720), gemm(8192, 14336, 4096, 700), gemm(64, 64, 64, 1)))
    expected = Ceiling(720e12, Level.EXACT, "measured bf16 of this shape")
    assert gemm_ceiling(measured, SHEET, Product(BF16, 8192, 14336, 4096)) == expected
    assert gemm_ceiling(measured, SHEET, Product(BF16, 14336, 8192, 4096)) == expected


def test_bursts_do_not_count_where_something_was_sustained() -> None:
    measured = ceilings(gemm=(gemm(512, 512, 512, 900, regime=Regime.BURST), gemm(512, 512, 512, 700)))
    assert gemm_ceiling(measured, None, Product(BF16, 512, 512, 512)) == Ceiling(
        700e12, Level.EXACT, "measured bf16 of this shape"
    )


def test_between_shapes_the_share_of_the_roofline_counts() -> None:
    # peak 800; four neighbours an octave away all reach 600: 75 % of 800
    around = [gemm(m, n, 4096, 600) for m in (2048, 8192) for n in (2048, 8192)]
    measured = ceilings(gemm=(*around, gemm(65536, 65536, 65536, 800)))
    found = gemm_ceiling(measured, SHEET, Product(BF16, 4096, 4096, 4096))
    assert found is not None
    assert found.rate == pytest.approx(600e12)
    assert (found.level, found.source) == (Level.INTERPOLATED, "measured bf16, between 4 shapes")


def test_too_few_neighbours_leave_the_roofline() -> None:
    # 1 x 4096 x 4096: 2 x 4096^2 flop over 2 (4096 + 4096^2 + 4096) bytes is 1 flop a byte
    measured = ceilings(gemm=(gemm(8192, 8192, 8192, 700),), memory=(memory(3000),))
    found = gemm_ceiling(measured, SHEET, Product(BF16, 1, 4096, 4096))
    assert found is not None
    assert found.rate == pytest.approx(3e12 * 4096 / 4098)
    assert (found.level, found.source) == (Level.ROOFLINE, "measured bf16 peak and memory rate")


def test_without_measurement_the_data_sheet_says() -> None:
    assert SHEET is not None
    large = gemm_ceiling(None, SHEET, Product(BF16, 8192, 8192, 8192))
    assert large == Ceiling(989.4e12, Level.DATA_SHEET, SHEET.source)
    assert gemm_ceiling(ceilings(), SHEET, Product(BF16, 8192, 8192, 8192)) == large
    assert gemm_ceiling(None, SHEET, Product(Dtype.NVFP4, 8192, 8192, 8192)) is None
    assert gemm_ceiling(None, None, Product(BF16, 8192, 8192, 8192)) is None


def test_a_simulated_ceiling_says_so() -> None:
    simulated = ceilings(gemm=(gemm(512, 512, 512, 700),), origin=Origin.SIMULATED)
    found = gemm_ceiling(simulated, None, Product(BF16, 512, 512, 512))
    assert found is not None
    assert found.source == "simulated, not measured: bf16 of this shape"


def test_peak_and_memory() -> None:
    measured = ceilings(gemm=(gemm(512, 512, 512, 100), gemm(8192, 8192, 8192, 700)), memory=(memory(2900),))
    assert peak_ceiling(measured, SHEET, BF16) == Ceiling(700e12, Level.EXACT, "measured bf16 8192 x 8192 x 8192")
    assert memory_ceiling(measured, SHEET) == Ceiling(2.9e12, Level.EXACT, "measured stream through device memory")
    assert SHEET is not None
    assert peak_ceiling(measured, SHEET, Dtype.FP8) == Ceiling(1979e12, Level.DATA_SHEET, SHEET.source)
    assert memory_ceiling(None, SHEET) == Ceiling(3.35e12, Level.DATA_SHEET, SHEET.source)
