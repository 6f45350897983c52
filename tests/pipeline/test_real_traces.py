"""Nine real exports: the partition against an independent sweep, kernels and gaps against NVIDIA's own tool."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shutil
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from nsysan.analysis.contention import Contention, SameStream
from nsysan.analysis.gpu_time import DeviceTimes, GpuTime
from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.attribution.devices import Device
from nsysan.attribution.idle.gaps import called_gaps
from nsysan.attribution.job import Job, build_job
from nsysan.attribution.launch import NO_CALL
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.run_json import encode_run, run_schema
from nsysan.model.text import display_text
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.result_types import result_types
from tests.nsys import find_nsys

TRACES = Path(__file__).parents[3] / "shared" / "traces"
EXPECTED = TRACES / "expected-partition.json"
EXPECTED_CUT = TRACES / "expected-idle-cut.json"
EXPORTS = sorted(TRACES.glob("*.sqlite"))

pytestmark = pytest.mark.skipif(not EXPECTED.exists(), reason="the shared real exports are not beside this checkout")

real_export = pytest.mark.parametrize("export", EXPORTS, ids=lambda path: path.stem)


def _expected_form(device: DeviceTimes) -> dict[str, Any]:
    return {
        "pid": device.pid,
        "device_id": device.device_id,
        "window_start_ns": device.window_start_ns,
        "window_end_ns": device.window_end_ns,
        "idle_gap_count": device.idle_gap_count,
        "longest_idle_gap_ns": device.longest_idle_gap_ns,
        "excluded": sum(device.excluded_records.values()),
        "time": msgspec.to_builtins(device.time),
    }


def _devices(run: Run) -> tuple[DeviceTimes, ...]:
    result = run.results.get(GpuTime)
    return () if isinstance(result, Skipped) else result.devices


@real_export
def test_partition_equals_the_independent_sweep(export: Path) -> None:
    devices = _devices(analyze([export], AnalyzeOptions()))

    found = {f"p{device.pid}/d{device.device_id}": _expected_form(device) for device in devices}
    assert found == json.loads(EXPECTED.read_text())[export.name]


@pytest.mark.parametrize("name", json.loads(EXPECTED_CUT.read_text()) if EXPECTED_CUT.exists() else [])
def test_idle_is_cut_at_the_calls_as_by_hand(name: str) -> None:
    job = build_job([read_trace(TRACES / name, ReadOptions())])

    assert {f"p{device.pid}/d{device.device_id}": _cut(job, device) for device in job.devices} == json.loads(
        EXPECTED_CUT.read_text()
    )[name]


def _cut(job: Job, device: Device) -> dict[str, int]:
    hosts = {0: job.idle.threads[0].host}
    gaps = called_gaps(device.activities, device.occupancy.idle(), hosts, {0: 0})
    called = gaps.call != NO_CALL
    return {
        "before_call_ns": int((gaps.call_begin_ns - gaps.start_ns)[called].sum()),
        "in_call_ns": int((gaps.call_return_ns - gaps.call_begin_ns)[called].sum()),
        "after_call_ns": int((gaps.end_ns - gaps.call_return_ns)[called].sum()),
        "no_call_ns": int((gaps.end_ns - gaps.start_ns)[~called].sum()),
    }


@real_export
def test_causes_add_up_to_idle(export: Path) -> None:
    for device in _devices(analyze([export], AnalyzeOptions())):
        assert device.idle_causes is not None
        assert device.idle_causes.idle_ns == device.time.idle_ns


@real_export
def test_gpus_hold_what_their_devices_hold(export: Path) -> None:
    result = analyze([export], AnalyzeOptions()).results.get(GpuTime)

    if not isinstance(result, Skipped):
        # no real export has two processes on one GPU
        assert [gpu.time for gpu in result.gpus] == [device.time for device in result.devices]


@real_export
def test_the_run_fits_its_schema_and_holds_nothing_of_the_machine(export: Path) -> None:
    data = encode_run(analyze([export], AnalyzeOptions()))

    jsonschema.validate(json.loads(data), run_schema(result_types()))
    assert str(TRACES).encode() not in data


@real_export
def test_the_input_stays_as_it_is(export: Path, tmp_path: Path) -> None:
    copy = Path(shutil.copy(export, tmp_path / "copy.sqlite"))
    before = hashlib.sha256(copy.read_bytes()).hexdigest()

    analyze([copy], AnalyzeOptions(hash_content=True))

    assert [path.name for path in tmp_path.iterdir()] == ["copy.sqlite"]
    assert hashlib.sha256(copy.read_bytes()).hexdigest() == before


def _nsys_table(nsys: str, export: Path, *arguments: str) -> list[dict[str, str]]:
    finished = subprocess.run([nsys, *arguments, str(export)], capture_output=True, text=True, check=True)
    return list(csv.DictReader(io.StringIO(finished.stdout)))


@pytest.mark.nsys
@real_export
def test_kernels_equal_nsys_stats(export: Path) -> None:
    report = ("stats", "-q", "-r", "cuda_gpu_kern_sum", "--format", "csv", "-o", "-")
    theirs = {
        display_text(row["Name"]): (int(row["Instances"]), int(row["Total Time (ns)"]), float(row["Med (ns)"]))
        for row in _nsys_table(find_nsys(), export, *report)
    }

    result = analyze([export], AnalyzeOptions()).results.get(KernelSummary)

    rows = () if isinstance(result, Skipped) else result.kernels
    assert {row.name: (row.count, row.total_ns, row.median_ns) for row in rows} == theirs


@pytest.mark.nsys
@real_export
def test_gaps_equal_nsys_analyze(export: Path) -> None:
    report = ("analyze", "-q", "-r", "gpu_gaps:gap=0:rows=-1", "--format", "csv", "-o", "-")
    rows = _nsys_table(find_nsys(), export, *report)
    keys = [(int(row["PID"]), int(row["Device ID"])) for row in rows]
    durations = [int(row["Duration (ns)"]) for row in rows]
    totals: Counter[tuple[int, int]] = Counter()
    for key, duration in zip(keys, durations, strict=True):
        totals[key] += duration
    theirs = {
        key: (count, totals[key], max(d for k, d in zip(keys, durations, strict=True) if k == key))
        for key, count in Counter(keys).items()
    }

    devices = _devices(analyze([export], AnalyzeOptions()))

    ours = {
        (device.pid, device.device_id): (device.idle_gap_count, device.time.idle_ns, device.longest_idle_gap_ns)
        for device in devices
    }
    assert ours == theirs


@pytest.mark.parametrize("name", ["alltoall-2xH100-before", "alltoall-2xH100-after"])
def test_all_messages_of_a_real_job_run_on_the_stream_that_computes(name: str) -> None:
    export = TRACES / f"{name}.sqlite"
    with closing(sqlite3.connect(f"{export.as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        rows = connection.execute(
            """SELECT count(*), sum(kernel.end - kernel.start), count(DISTINCT streamId)
               FROM CUPTI_ACTIVITY_KIND_KERNEL AS kernel JOIN StringIds ON StringIds.id = shortName
               WHERE value LIKE 'nccl%' GROUP BY deviceId ORDER BY deviceId"""
        ).fetchall()

    found = analyze([export], AnalyzeOptions(only=("contention",))).results.get(Contention)

    assert not isinstance(found, Skipped)
    assert [(gpu.same_stream, gpu.overlap) for gpu in found.contention] == [
        (SameStream(count, total_ns, 1.0), None) for count, total_ns, _ in rows
    ]
    assert {stream_count for _, _, stream_count in rows} == {1}
