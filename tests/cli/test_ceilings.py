"""``nsysan ceilings`` and ``nsysan calibrate --simulate`` from the command line."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.cli.main import main
from nsysan.hardware.ceilings_json import encode_ceilings, read_ceilings
from nsysan.model.ceilings import CollectiveCurve, Mode
from tests.hardware.ceilings import ceilings, curve, gemm, host_link, memory


def written(path: Path, **figures: object) -> str:
    path.write_bytes(encode_ceilings(ceilings(**figures)))
    return str(path)


def of_one(one: CollectiveCurve) -> CollectiveCurve:
    return replace(one, mode=Mode.ONE_PROCESS)


def test_simulate_show_and_merge(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, both = tmp_path / "one.json", tmp_path / "both.json"
    assert main(["calibrate", "--simulate", "NVIDIA L40S", "-o", str(one)]) == 0
    assert main(["ceilings", "merge", str(one), str(one), "-o", str(both)]) == 0
    assert read_ceilings(both).gemm == read_ceilings(one).gemm
    capsys.readouterr()
    assert main(["ceilings", "show", str(both)]) == 0
    text = capsys.readouterr().out
    assert "SIMULATED: nothing here was measured." in text
    assert "362.0 TFLOP/s" in text


def test_show_tells_everything_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(
        tmp_path / "a.json",
        gemm=(gemm(8192, 8192, 8192, 700), gemm(512, 512, 512, 90)),
        memory=(memory(3000),),
        links=(host_link(1 << 30, 50), host_link(1 << 30, 55)),
        collectives=(of_each := curve({8: 20.0, 1 << 20: 35.0, 1 << 30: 5000.0}), of_one(of_each)),
    )
    assert main(["ceilings", "show", path]) == 0
    # 2^30 bytes in 5 ms is 214.748 GB/s, times 1.75 of 8 ranks; 700 of 989.4 TFLOP/s is 70.7 %
    assert capsys.readouterr().out == (
        "Ceilings of NVIDIA H100 80GB HBM3: a test.\n"
        "Made 2026-01-01T00:00:00Z.\n"
        "\n"
        "Matrix products           best  of data sheet           m x n x k  measured\n"
        "bf16, sustained  700.0 TFLOP/s         70.7 %  8192 x 8192 x 8192         2\n"
        "\n"
        "Device memory      size        rate\n"
        "triad          1.074 GB  3.000 TB/s\n"
        "\n"
        "Link                    GPUs      size      slowest      fastest\n"
        "host to device, pinned     2  1.074 GB  50.000 GB/s  55.000 GB/s\n"
        "\n"
        f"{'Collective':54}small  plateau (busbw)        at  points\n"
        "all reduce, 8 ranks, bf16, isolated               20.000 µs     375.810 GB/s  1.074 GB       3\n"
        "all reduce, 8 ranks, one process, bf16, isolated  20.000 µs     375.810 GB/s  1.074 GB       3\n"
    )


def test_diff_names_what_is_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = written(tmp_path / "a.json", gemm=(gemm(512, 512, 512, 700),), memory=(memory(3000),))
    other = written(tmp_path / "b.json", gemm=(gemm(512, 512, 512, 630),), memory=(memory(3030),))
    assert main(["ceilings", "diff", one, other]) == 0
    assert capsys.readouterr().out == (
        f"{'Figure':53}first         second   change\n"
        "gemm bf16 TN 512 x 512 x 512 sustained best  700.0 TFLOP/s  630.0 TFLOP/s  -10.0 %\n"
        "\n"
        "1 figure within 2.0 % of each other; 0 figures in one file only.\n"
    )


def test_import_writes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "mamf.txt"
    output.write_text("median: 700.0 TFLOPS @ 4096x4096x4096 (MxNxK)\n")
    target = tmp_path / "ceilings.json"
    assert main(["ceilings", "import", str(output), "--gpu", "NVIDIA H200", "-o", str(target)]) == 0
    assert [one.flop_per_s for one in read_ceilings(target).gemm] == [7e14]
    assert main(["ceilings", "import", str(target), "-o", str(target)]) == 2
    assert "is no output of a benchmark" in capsys.readouterr().err


def test_an_unknown_gpu_is_not_simulated(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["calibrate", "--simulate", "RTX 9999", "-o", str(tmp_path / "a.json")]) == 2
    assert "There is no data sheet of 'RTX 9999'." in capsys.readouterr().err
    assert not (tmp_path / "a.json").exists()
