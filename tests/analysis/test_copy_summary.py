"""Copies by direction and memory, their rates, and rates that cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.analysis.copy_summary import CopyRow, CopySummary
from nsysan.hardware.links import C2C, NVLINK_2_HOST, PCIE_3, PCIE_4, PCIE_5, PCIE_6, LineRate, host_link
from nsysan.model.results import Skipped
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of

if TYPE_CHECKING:
    from pathlib import Path

PINNED, PAGEABLE, DEVICE = 1, 0, 2


def test_rows_by_direction_and_memory(tmp_path: Path) -> None:
    export = Export("3.7").gpu(name="NVIDIA H100 80GB HBM3", uuid="GPU-1")
    export.copy(0, 1000, 10_000, kind=1, src_memory=PAGEABLE).copy(2000, 4000, 80_000, kind=1, src_memory=PINNED)
    export.copy(5000, 8000, 120_000, kind=1, src_memory=PINNED).memset(9000, 9500, 4096)

    run = analyze_exports(tmp_path, export)

    def to_device(memory: str, **figures: float) -> CopyRow:
        link = {
            "plausible_bytes_per_s": 63.0e9,
            "plausible_source": "PCIe 5.0 x16 line rate",
            "implausible_count": 0,
            "unsized_count": 0,
        }
        return CopyRow("host_to_device", memory, "device", gpu_count=1, **figures, **link)  # type: ignore[arg-type]

    assert result_of(run, CopySummary).copies == (
        to_device(
            "pinned",
            count=2,
            size_bytes=200_000,
            total_ns=5000,
            median_ns=2500.0,
            p95_ns=3000,
            rate_bytes_per_s=40e9,
            fastest_bytes_per_s=40e9,
        ),
        to_device(
            "pageable",
            count=1,
            size_bytes=10_000,
            total_ns=1000,
            median_ns=1000.0,
            p95_ns=1000,
            rate_bytes_per_s=10e9,
            fastest_bytes_per_s=10e9,
        ),
        CopyRow("memset", None, None, 1, 1, 4096, 0, 500, 500.0, 500, 8.192e9, 8.192e9, None, None, 0),
    )
    assert "implausible_copies" not in {finding.id for finding in run.findings}


def test_rates_no_link_reaches_are_marked(tmp_path: Path) -> None:
    export = Export("3.7").gpu(name="NVIDIA H100 80GB HBM3", uuid="GPU-1")
    export.copy(0, 1000, 168_000, kind=1).copy(1000, 2000, 63_000, kind=1).copy(3000, 3000, 1, kind=1)

    run = analyze_exports(tmp_path, export)

    # T24: 168 GB/s over PCIe 5, and bytes that took no time; 63 GB/s is the line rate itself
    (row,) = result_of(run, CopySummary).copies
    assert (row.count, row.implausible_count) == (3, 2)
    assert [finding.title for finding in run.findings if finding.id == "implausible_copies"] == [
        "2 memory operations faster than any link between these memories"
    ]


@pytest.mark.parametrize(
    ("name", "link"),
    [
        ("NVIDIA H100 80GB HBM3", PCIE_5),
        ("NVIDIA A100-SXM4-40GB", PCIE_4),
        ("NVIDIA GH200 480GB", C2C),
        ("NVIDIA GB200", C2C),
        ("NVIDIA B200", PCIE_5),
        ("NVIDIA L40S", PCIE_4),
        ("NVIDIA L4", PCIE_4),
        ("Tesla V100-SXM2-32GB", NVLINK_2_HOST),
        ("Tesla V100-PCIE-16GB", PCIE_3),
        ("NVIDIA B300", PCIE_6),
        ("NVIDIA GB300", C2C),
        ("NVIDIA A30", PCIE_4),
        ("NVIDIA H100 80GB HBM3 MIG 1g.10gb", PCIE_5),
        ("Tesla T4", PCIE_3),
        ("NVIDIA GeForce RTX 3080", PCIE_4),
        ("NVIDIA GeForce RTX 5090", PCIE_5),
        ("NVIDIA RTX A6000", PCIE_4),
        ("NVIDIA RTX 5000 Ada Generation Laptop GPU", PCIE_4),
        ("Quadro RTX 5000", C2C),
        ("some GPU of tomorrow", C2C),
        (None, C2C),
    ],
)
def test_the_host_link_follows_the_model_not_a_piece_of_its_name(name: str | None, link: LineRate) -> None:
    assert host_link(name) == link


def test_sizes_that_were_not_recorded_stay_unknown(tmp_path: Path) -> None:
    export = Export("3.7").gpu(name="NVIDIA H100 80GB HBM3", uuid="GPU-1")
    export.copy(0, 1_000_000_000, 20 * 10**9).copy(1_000_000_000, 2_000_000_000, 2**60)
    (row,) = result_of(analyze_exports(tmp_path, export), CopySummary).copies
    assert (row.size_bytes, row.unsized_count, row.rate_bytes_per_s, row.implausible_count) == (20 * 10**9, 1, 20e9, 0)

    export.sql("UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET bytes = -1")
    (row,) = result_of(analyze_exports(tmp_path, export), CopySummary).copies
    assert (row.size_bytes, row.unsized_count, row.rate_bytes_per_s, row.fastest_bytes_per_s) == (None, 2, None, None)


def test_gpu_work_without_copies_had_none_but_lost_copies_are_unknown(tmp_path: Path) -> None:
    export = Export().kernel(0, 10, "k")
    assert result_of(analyze_exports(tmp_path, export), CopySummary).copies == ()

    export.copy(20, 30, 64).sql("ALTER TABLE CUPTI_ACTIVITY_KIND_MEMCPY DROP COLUMN start")
    assert analyze_exports(tmp_path, export).results.get(CopySummary) == Skipped(
        "copy_summary", "no record of a copy can be used; the notes say why", None
    )
