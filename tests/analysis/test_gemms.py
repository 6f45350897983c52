"""Matrix products against ceilings: shapes from ranges, rates by arithmetic, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.analysis.ceilings import CeilingsOfGpus, HeldAgainst, compute_ceilings
from nsysan.analysis.copy_summary import CopySummary, compute_copy_summary
from nsysan.analysis.gemms import GemmRow, Gemms, compute_gemms
from nsysan.attribution.job import Job, build_job
from nsysan.attribution.products import dtype_of_kernel
from nsysan.attribution.told_shapes import Sides, sides_of_operator
from nsysan.hardware.answers import Level
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.ceilings import Ceilings, Dtype, Origin
from nsysan.model.results import ResultSet, Skipped
from nsysan.synth.export import Export
from tests.hardware.ceilings import ceilings, gemm, host_link, memory

LAUNCH = "cudaLaunchKernel_v7000"
KERNEL = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN"
MM = "aten::mm, op_id = 7, sizes = [[8192, 4096], [4096, 14336]]"
US = 1000


def launched(export: Export, call_ns: int, start_ns: int, end_ns: int, name: str = KERNEL) -> Export:
    correlation = export._correlations.get(100, 0) + 1
    export.call(call_ns, call_ns + 1, LAUNCH, tid=100, correlation=correlation)
    return export.kernel(start_ns, end_ns, name, correlation=correlation)


def job_of(folder: Path, export: Export, measured: Ceilings | None = None) -> Job:
    job = build_job([read_trace(export.write(folder / "rank0.sqlite"), ReadOptions())])
    return replace(job, ceilings=measured)


def found(folder: Path, export: Export, measured: Ceilings | None = None) -> Gemms:
    result = compute_gemms(job_of(folder, export, measured), ResultSet({}))
    assert not isinstance(result, Skipped), result
    return result


def one_product(duration_ns: int) -> Export:
    """C86's product on an H100."""
    return launched(Export().gpu().nvtx(0, 100, MM), 1, 1000, 1000 + duration_ns)


def test_a_rate_is_operations_over_time(tmp_path: Path) -> None:
    # 2 x 8192 x 14336 x 4096 = 962,072,674,304 in 1.4 ms is 687.2 TFLOP/s; at 720 it takes 1,336,212 ns
    measured = ceilings(gemm=(gemm(8192, 14336, 4096, 720),), memory=(memory(3000),))
    gemms = found(tmp_path, one_product(1_400_000), measured)
    (row,) = gemms.gemms
    assert row.flop_per_s == pytest.approx(962_072_674_304 / 1.4e-3)
    assert replace(row, flop_per_s=None) == GemmRow(
        dtype=Dtype.BF16,
        m=8192,
        n=14336,
        k=4096,
        batch=1,
        count=1,
        total_ns=1_400_000,
        flop_per_s=None,
        ceiling_flop_per_s=720e12,
        ceiling_level=Level.EXACT,
        ceiling_source="measured bf16 of this shape",
        ceiling_is_too_low=False,
        lost_ns=1_400_000 - 1_336_212,
        refused=None,
    )
    assert (gemms.gemm_coverage_frac, gemms.gemm_lost_ns, gemms.gemm_lost_ns_per_step) == (1.0, 63_788, None)


def test_a_rate_above_its_ceiling_is_a_fault_of_pairing(tmp_path: Path) -> None:
    """C86: 801.7 TFLOP/s against a measured 720 is 111 %."""
    gemms = found(tmp_path, one_product(1_200_000), ceilings(gemm=(gemm(8192, 14336, 4096, 720),)))
    (row,) = gemms.gemms
    assert row.flop_per_s is None
    assert row.lost_ns is None
    assert row.refused == (
        "801.7 TFLOP/s would be 111.4 % of the 720.0 TFLOP/s that were measured: shapes and kernels do not belong "
        "together, or the ceilings are not this GPU's"
    )
    assert gemms.gemm_lost_ns is None


def test_a_rate_a_little_above_its_ceiling_shows_the_ceiling_too_low(tmp_path: Path) -> None:
    # 1.32 ms is 728.8 TFLOP/s, 1.2 % above 720
    job = job_of(tmp_path, one_product(1_320_000), ceilings(gemm=(gemm(8192, 14336, 4096, 720),)))
    gemms = compute_gemms(job, ResultSet({}))
    assert isinstance(gemms, Gemms)
    assert (gemms.gemms[0].ceiling_is_too_low, gemms.gemms[0].lost_ns, gemms.gemms[0].refused) == (True, 0, None)
    held = compute_ceilings(job, ResultSet({Gemms.id: gemms}))
    assert isinstance(held, HeldAgainst)
    assert held.ceilings_too_low == ("bf16 8192 x 14336 x 4096",)


def test_more_than_the_gpu_can_do_is_refused_without_any_measurement(tmp_path: Path) -> None:
    # 0.8 ms would be 1202.6 TFLOP/s
    (row,) = found(tmp_path, one_product(800_000)).gemms
    assert row.refused is not None
    assert row.refused.startswith("1,202.6 TFLOP/s is more than the 989.4 TFLOP/s that the GPU can do")


def test_the_data_sheet_stands_in(tmp_path: Path) -> None:
    (row,) = found(tmp_path, one_product(1_200_000)).gemms
    assert (row.ceiling_flop_per_s, row.ceiling_level) == (989.4e12, Level.DATA_SHEET)
    assert row.ceiling_source == "NVIDIA H100 data sheet, sparse figures halved"


def test_ceilings_of_another_gpu_are_not_used(tmp_path: Path) -> None:
    h200 = ceilings(gemm=(gemm(8192, 14336, 4096, 720),), gpus=(replace(ceilings().gpus[0], name="NVIDIA H200"),))
    job = job_of(tmp_path, one_product(1_200_000), h200)
    gemms = compute_gemms(job, ResultSet({}))
    assert isinstance(gemms, Gemms)
    assert gemms.gemms[0].ceiling_level is Level.DATA_SHEET
    held = compute_ceilings(job, ResultSet({}))
    assert isinstance(held, HeldAgainst)
    reason = "measured on NVIDIA H200, recorded on NVIDIA H100 80GB HBM3"
    assert held.ceilings.gpus == (CeilingsOfGpus(("gpu0",), reason, ()),)


@pytest.mark.parametrize(
    ("recorded", "warnings"),
    [
        ("570.86.10", ["Measured under driver 580.65.06, recorded under 570.86.10."]),
        ("580.95.05", []),
        # as nsys writes it where there is no driver
        ("0", []),
    ],
)
def test_another_branch_of_the_driver_is_told(tmp_path: Path, recorded: str, warnings: list[str]) -> None:
    columns = "(globalVid, devStateName, name, nameEnum, value)"
    told = (
        f"INSERT INTO TARGET_INFO_SYSTEM_ENV {columns} VALUES (1, 'Local (CLI)', 'NvDriverVersion', 621, '{recorded}')"
    )
    measured = ceilings(gemm=(gemm(8192, 14336, 4096, 720),), driver_version="580.65.06")
    held = compute_ceilings(job_of(tmp_path, one_product(1_400_000).sql(told), measured), ResultSet({}))
    assert isinstance(held, HeldAgainst)
    assert [warning for warning in held.ceilings.gpus[0].warnings if "under driver" in warning] == warnings


def test_kernels_count_with_the_innermost_operator_and_the_rest_is_not_covered(tmp_path: Path) -> None:
    export = Export().gpu().nvtx(0, 1000, "aten::linear, sizes = [[2, 4, 8], [16, 8], [16]]")
    export.nvtx(10, 100, "aten::addmm, op_id = 1, sizes = [[16], [8, 8], [8, 16]]")
    launched(launched(export, 20, 2000, 3000), 30, 3000, 3100, "void cublasLt::splitKreduce_kernel<32>()")
    launched(launched(export, 200, 4000, 4500), 2000, 5000, 7400)
    gemms = found(tmp_path, export)
    rows = {(row.m, row.n, row.k): (row.count, row.total_ns) for row in gemms.gemms}
    # both are 8 x 16 x 8: the addmm of 1000 + 100 ns, and what the linear launched itself
    assert rows == {(8, 16, 8): (2, 1600)}
    assert gemms.gemm_coverage_frac == 1600 / 4000


@pytest.mark.parametrize(("origin", "is_measured"), [(Origin.MEASURED, True), (Origin.SIMULATED, False)])
def test_time_is_lost_by_step(tmp_path: Path, origin: Origin, is_measured: bool) -> None:  # noqa: FBT001
    """Four products a step of 1.5 ms each lose 4 x (1.5 ms - 1,336,212 ns)."""
    export = Export().gpu()
    for step in range(6):
        begin = step * 10_000 * US
        export.nvtx(begin, begin + 90 * US, f"step {step}")
        for number in range(4):
            at = begin + (10 + 10 * number) * US
            export.nvtx(at, at + 5 * US, MM)
            launched(export, at + US, begin + (100 + 2000 * number) * US, begin + (1600 + 2000 * number) * US)
    gemms = found(tmp_path, export, ceilings(gemm=(gemm(8192, 14336, 4096, 720),), origin=origin))
    assert gemms.gemm_lost_ns_per_step == pytest.approx(4 * (1_500_000 - 1_336_212), abs=4)
    assert gemms.gemm_lost_measured_ns_per_step == (gemms.gemm_lost_ns_per_step if is_measured else None)
    assert gemms.measured_frac == (1.0 if is_measured else 0.0)


@pytest.mark.parametrize("text", ["aten::mm", "aten::mm, sizes = [[8, 4], [5, 2]]", "layer"])
def test_without_shapes_the_answer_is_that_it_needs_them(tmp_path: Path, text: str) -> None:
    export = launched(Export().gpu().nvtx(0, 100, text), 1, 1000, 2000)
    result = compute_gemms(job_of(tmp_path, export), ResultSet({}))
    assert isinstance(result, Skipped)
    assert (
        result.reason == "FLOP/s needs shapes: no range tells those of the matrix products, and no kernel's name does"
    )
    assert result.recapture is not None
    assert "emit_nvtx(record_shapes=True)" in result.recapture


def test_copies_against_links(tmp_path: Path) -> None:
    # 64 MiB in 1.342 ms is 50 GB/s
    export = Export().gpu().copy(1000, 1_343_177, 64 << 20)
    measured = ceilings(links=(host_link(1 << 20, 40), host_link(64 << 20, 55)), origin=Origin.SIMULATED)
    job = job_of(tmp_path, export, measured)
    held = compute_ceilings(job, ResultSet({CopySummary.id: compute_copy_summary(job, ResultSet({}))}))
    assert isinstance(held, HeldAgainst)
    (row,) = held.links
    assert row.rate_bytes_per_s == pytest.approx(50e9, rel=1e-4)
    assert row.ceiling_bytes_per_s == pytest.approx(55e9)
    assert (row.ceiling_level, row.is_above) == (Level.EXACT, False)


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("aten::mm, sizes = [[8192, 4096], [4096, 14336]]", Sides(8192, 14336, 4096)),
        ("aten::addmm, seq = 3, op_id = 1, sizes = [[16], [8, 4], [4, 16], [], []]", Sides(8, 16, 4)),
        ("aten::bmm, sizes = [[12, 8, 4], [12, 4, 16]]", Sides(8, 16, 4, 12)),
        ("aten::baddbmm, sizes = [[12, 8, 16], [12, 8, 4], [12, 4, 16]]", Sides(8, 16, 4, 12)),
        ("aten::linear, sizes = [[2, 8, 4], [16, 4], [16]]", Sides(16, 16, 4)),
        ("aten::_scaled_mm, sizes = [[8, 4], [4, 16], [], []]", Sides(8, 16, 4)),
        ("aten::mm, sizes = [[8, 4], [5, 16]]", None),
        ("aten::mm, sizes = [[8, 0], [0, 16]]", None),
        ("aten::mm, sizes = [[8, 4]]", None),
        ("aten::mm, sizes = [[[8, 4]], [4, 2]]", None),
        ("aten::mm, sizes = [[99999999999999999999, 4], [4, 2]]", None),
        ("aten::add, sizes = [[8, 4], [4, 16]]", None),
        ("aten::linear, sizes = [[], []]", None),
    ],
)
def test_products_of_operators(text: str, sides: Sides | None) -> None:
    assert sides_of_operator(text) == sides


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN", Dtype.BF16),
        ("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT", Dtype.FP16),
        ("nvjet_qqtst_128x128_128x6_2x1_v_bz_TNT", Dtype.FP8),
        ("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_tn", Dtype.BF16),
        ("ampere_fp16_s16816gemm_fp16_64x64_sliced1x2_ldg8_f2f_stages_64x5_nn", Dtype.FP16),
        ("sm80_xmma_gemm_f16f16_f16f32_f32_tn_n_tilesize64x64x64_stage3", Dtype.FP16),
        ("sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x32", Dtype.BF16),
        ("sm90_xmma_gemm_e4m3bf16_e4m3f32_f32_tn_n_tilesize128x128x128", Dtype.FP8),
        ("void cutlass::Kernel2<cutlass_80_tensorop_s1688gemm_256x128_16x3_nn_align4>(T1::Params)", Dtype.TF32),
        ("void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128>", Dtype.BF16),
        ("ampere_sgemm_128x64_tn", Dtype.FP32),
        ("volta_dgemm_64x64_nt", Dtype.FP64),
        ("void gemv2T_kernel_val<int, int, float>", None),
    ],
)
def test_data_types_of_kernels(name: str, dtype: Dtype | None) -> None:
    """C85: a name gives the data type, and never m, n or k."""
    assert dtype_of_kernel(name) is dtype
