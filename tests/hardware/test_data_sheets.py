"""Data sheets: which GPU a name is, dense rates, and the arithmetic behind them."""

from __future__ import annotations

import pytest

from nsysan.hardware.data_sheet_table import DataSheet, data_sheets
from nsysan.hardware.data_sheets import GpuFacts, sheet_named, sheet_of, upper_bounds
from nsysan.hardware.peak_rates import peak_flop_per_s
from nsysan.model.ceilings import Dtype

TERA = 1e12


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("NVIDIA H100 80GB HBM3", "H100 SXM"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("NVIDIA H100 NVL", "H100 NVL"),
        ("NVIDIA H200", "H200 SXM"),
        ("NVIDIA GH200 480GB", "GH200"),
        ("NVIDIA GH200 144G HBM3e", "GH200 144 GB"),
        ("NVIDIA H20", "H20"),
        ("NVIDIA H20-3e", "H20 3e"),
        ("NVIDIA H800", "H800 SXM"),
        ("NVIDIA B200", "B200"),
        ("NVIDIA GB200", "GB200"),
        ("NVIDIA B300 SXM6 AC", "B300"),
        ("NVIDIA GB300", "GB300"),
        ("NVIDIA A100-SXM4-40GB", "A100 40 GB"),
        ("A100-PCIE-40GB", "A100 40 GB"),
        ("NVIDIA A100-SXM4-80GB", "A100 80 GB SXM"),
        ("NVIDIA A100-SXM-80GB", "A100 80 GB SXM"),
        ("NVIDIA A100 80GB PCIe", "A100 80 GB PCIe"),
        ("NVIDIA A800-SXM4-80GB", "A800 SXM"),
        ("NVIDIA A10", "A10"),
        ("NVIDIA L4", "L4"),
        ("NVIDIA L40S", "L40S"),
        ("Tesla V100-SXM2-16GB", "V100 SXM2"),
        ("Tesla V100-PCIE-32GB", "V100 PCIe"),
        ("Tesla V100S-PCIE-32GB", "V100S PCIe"),
        ("Tesla T4", "T4"),
        ("NVIDIA RTX A6000", "RTX A6000"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
        ("NVIDIA RTX PRO 6000 Blackwell Server Edition", "RTX PRO 6000 Blackwell"),
        ("NVIDIA GeForce RTX 4090", "GeForce RTX 4090"),
    ],
)
def test_a_name_is_one_model(name: str, model: str) -> None:
    found = sheet_named(name)
    assert found is not None
    assert found.model == model


@pytest.mark.parametrize(
    "name",
    [
        "NVIDIA A10G",
        "NVIDIA A100X",
        "NVIDIA L40",
        "NVIDIA H100L 94GB",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 3090 Ti",
        "NVIDIA RTX 5000 Ada Generation Laptop GPU",
        "GRID A100-10C",
        "NVIDIA",
        "",
    ],
)
def test_a_name_with_a_word_more_is_another_gpu(name: str) -> None:
    assert sheet_named(name) is None


# H20 has fewer rates than its SMs could do, and no clock of it is established; B300 and GB300 as well
CLOCKS_MHZ = {
    "V100 SXM2": (1530, 1530),
    "V100 PCIe": (1380, 1380),
    "T4": (1590, 1590),
    "A10": (1695, 1695),
    "A100 40 GB": (1410, 1410),
    "A100 80 GB PCIe": (1410, 1410),
    "A100 80 GB SXM": (1410, 1410),
    "H100 PCIe": (1620, 1755),
    "H100 SXM": (1830, 1980),
    "H200 SXM": (1830, 1980),
    "B200": (1855, 1965),
    "GB200": (2008, 2062),
    "L4": (2040, 2040),
    "L40S": (2520, 2520),
    "RTX A6000": (1800, 1800),
    "RTX 6000 Ada": (2505, 2505),
    "RTX PRO 6000 Blackwell": (2617, 2617),
    "GeForce RTX 3090": (1695, 1695),
    "GeForce RTX 4090": (2520, 2520),
    "GeForce RTX 5090": (2407, 2407),
}


def test_fp4_of_blackwell() -> None:
    """152 SMs x 2008 MHz x 49152 = 15.0 PFLOP/s of GB300, half as much again as the 32768 an SM of GB200."""
    rates = [peak_flop_per_s(capability, 152, 2008e6, is_geforce=False) for capability in ((10, 0), (10, 3))]
    sheets = {sheet.model: sheet for sheet in data_sheets()}
    for rate, model in zip(rates, ("GB200", "GB300"), strict=True):
        assert rate[Dtype.NVFP4] == pytest.approx(sheets[model].flop_per_s[Dtype.NVFP4], rel=0.005)
        assert rate[Dtype.BF16] == pytest.approx(sheets[model].flop_per_s[Dtype.BF16], rel=0.005)
    # at its highest clock a B200 does more than its sheet says in fp4, too
    assert upper_bounds(sheets["B200"], 1.965e9)[Dtype.NVFP4] == pytest.approx(9.53e15, rel=1e-3)


@pytest.mark.parametrize(("model", "clocks_mhz"), CLOCKS_MHZ.items())
def test_sheets_are_sms_times_clock_times_rate(model: str, clocks_mhz: tuple[int, int]) -> None:
    (sheet,) = (sheet for sheet in data_sheets() if sheet.model == model)
    tensor, core = (
        peak_flop_per_s(sheet.capability, sheet.sm_count, clock * 1e6, is_geforce="GeForce" in model)
        for clock in clocks_mhz
    )
    for dtype in (Dtype.TF32, Dtype.BF16, Dtype.FP16, Dtype.FP8, Dtype.NVFP4, Dtype.INT8):
        if dtype in sheet.flop_per_s and dtype in tensor and (model, dtype) != ("GeForce RTX 4090", Dtype.INT8):
            assert sheet.flop_per_s[dtype] == pytest.approx(tensor[dtype], rel=0.0125)
    assert sheet.flop_per_s[Dtype.FP32] == pytest.approx(core[Dtype.FP32], rel=0.013)


def test_no_sheet_holds_a_rate_with_sparsity() -> None:
    """T13: what tables mix up: H100 1979, L4 242 TFLOP/s of bf16, A6000 309.7, 3090 142.3, 4090 330.3, 5090 419 or 838.

    With sparsity, or what a GeForce does where it accumulates in half precision.
    """
    bf16 = {
        sheet.model: sheet.flop_per_s[Dtype.BF16] / TERA for sheet in data_sheets() if Dtype.BF16 in sheet.flop_per_s
    }
    chosen = ("H100 SXM", "L4", "RTX A6000", "GeForce RTX 3090", "GeForce RTX 4090", "GeForce RTX 5090")
    assert [bf16[model] for model in chosen] == [989.4, 121, 154.8, 71.2, 165.2, 209.5]


def test_every_sheet_says_where_it_comes_from() -> None:
    assert [sheet.model for sheet in data_sheets() if not sheet.source or sheet.is_estimated] == []


def found(facts: GpuFacts) -> DataSheet:
    sheet = sheet_of(facts)
    assert sheet is not None
    return sheet


def test_an_unknown_gpu_is_estimated_from_sms_and_clock() -> None:
    # 68 SMs x 1710 MHz x 512 = 59.5 TFLOP/s: GeForce does half of 1024 when it accumulates in fp32
    sheet = found(GpuFacts("NVIDIA GeForce RTX 3080", 68, (8, 6), 1.71e9, 760.08e9))
    assert sheet.is_estimated
    assert sheet.flop_per_s[Dtype.BF16] == pytest.approx(59.535e12, rel=1e-4)
    assert sheet.memory_bytes_per_s == 760.08e9
    assert sheet.source == "estimate: 68 SMs at 1710 MHz"


def test_nothing_is_estimated_from_too_little() -> None:
    assert sheet_of(GpuFacts("NVIDIA GeForce RTX 3080", 68, (8, 6), None)) is None
    assert sheet_of(GpuFacts("NVIDIA GeForce GTX 480", 15, (2, 0), 1.4e9)) is None
    assert sheet_of(GpuFacts(None)) is None


def test_a_name_that_its_capability_denies_is_not_believed() -> None:
    sheet = found(GpuFacts("NVIDIA A100-SXM4-40GB", 60, (8, 6), 1e9))
    assert (sheet.is_estimated, sheet.model) == (True, "NVIDIA A100-SXM4-40GB")


def test_a_part_of_a_gpu_is_scaled_by_its_sms() -> None:
    sheet = found(GpuFacts("NVIDIA H100 80GB HBM3 MIG 3g.40gb", 66, (9, 0)))
    assert (sheet.is_estimated, sheet.sm_count, sheet.flop_per_s[Dtype.BF16]) == (True, 66, 989.4e12 / 2)


def test_memory_tells_which_of_two_sheets_it_is() -> None:
    assert found(GpuFacts("A100", memory_bytes=42_000_000_000)).model == "A100 40 GB"
    assert found(GpuFacts("A100", memory_bytes=84_000_000_000)).model == "A100 80 GB SXM"


def test_a_sheet_is_no_upper_bound() -> None:
    """B200: 148 x 8192 x 1.965 GHz = 2382 TFLOP/s of bf16, and the sheet says 2250."""
    sheet = found(GpuFacts("NVIDIA B200"))
    assert upper_bounds(sheet, 1.965e9)[Dtype.BF16] == pytest.approx(2382e12, rel=1e-3)
    assert upper_bounds(sheet, 1.0e9)[Dtype.BF16] == 2250e12
    assert upper_bounds(sheet, None) == sheet.flop_per_s
