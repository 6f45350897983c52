"""Which driver and CUDA a trace tells, from nsys' properties of the machine and from the head of PyTorch's traces."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.software import Software
from nsysan.synth.export import Export
from tests.ingest.torch_traces import annotation, written


def _software(path: Path) -> Software:
    return read_trace(path, ReadOptions()).software


@pytest.mark.parametrize(
    ("driver", "cuda", "told"),
    [
        ("550.54.15", "12040", Software("550.54.15", "12.4")),
        ("580.95.05", "13000", Software("580.95.05", "13.0")),
        # as nsys writes it where there is no driver
        ("0", "0", Software()),
        ("", "", Software()),
        ("x", "-1", Software("x")),
        ("x", "9" * 40, Software("x")),
    ],
)
def test_of_an_export(tmp_path: Path, driver: str, cuda: str, told: Software) -> None:
    export = Export().kernel(0, 9, "k")
    for name, value in (("NvDriverVersion", driver), ("CudaDriverVersion", cuda)):
        export.sql(f"INSERT INTO TARGET_INFO_SYSTEM_ENV VALUES (1, 'Local (CLI)', '{name}', 205, '{value}')")

    assert _software(export.write(tmp_path / "report.sqlite")) == told


def test_an_export_that_tells_none(tmp_path: Path) -> None:
    assert _software(Export().kernel(0, 9, "k").write(tmp_path / "report.sqlite")) == Software()


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"cuda_driver_version": 12040, "cuda_runtime_version": 12060}, Software(None, "12.4", "12.6")),
        ({"distributedInfo": {"rank": 0, "nccl_version": "2.21.5"}}, Software(nccl="2.21.5")),
        ({"distributedInfo": {"rank": 0, "nccl_version": [2, 21]}}, Software()),
        ({"cuda_driver_version": "12040", "cuda_runtime_version": -5}, Software()),
        ({}, Software()),
    ],
)
def test_of_a_trace_of_pytorch(tmp_path: Path, members: dict[str, object], told: Software) -> None:
    assert _software(written(tmp_path, annotation(1000, 5), **members)) == told
