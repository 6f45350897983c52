"""The mean of equal shares is that share: ten additions of 0.1 make less than 1 on Python 3.11, and 1 on 3.12."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nsysan.analysis.gpu_time import GpuTime, compute_gpu_time
from nsysan.attribution.job import build_job
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.results import ResultSet
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path


def test_ten_gpus_that_compute_a_tenth_do_so_on_average(tmp_path: Path) -> None:
    export = Export()
    for device in range(10):
        export.kernel(100, 101, "gemm", device=device).kernel(119, 120, "gemm", device=device)
    trace = read_trace(export.write(tmp_path / "r.sqlite"), ReadOptions())

    found = compute_gpu_time(build_job([trace]), ResultSet({}))

    assert isinstance(found, GpuTime)
    assert found.job.time.compute_only.mean_frac == 0.1
