"""What an export says about its capture: versions, times, machine, people, and the shift of its times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.ingest.nsys.records import unshifted
from nsysan.model.tables import ABSENT
from nsysan.model.trace import CaptureIdentity, CudaDevice, PhysicalGpu
from nsysan.synth.export import Export
from tests.ingest.reading import edit, read, refusal, rows

if TYPE_CHECKING:
    from pathlib import Path

INT64_MAX = 2**63 - 1
int64 = st.integers(ABSENT, INT64_MAX)


@pytest.mark.parametrize(
    ("schema", "versions"), [("3.7", ("2023.4.4.54", "3.7.2")), ("3.25", ("2026.2.1.210", "3.25.0"))]
)
def test_versions_and_times(tmp_path: Path, schema: str, versions: tuple[str, str]) -> None:
    epoch_ns = 1_779_630_014_975_716_426
    export = Export(schema).kernel(0, 1, "gemm").session(utc_epoch_ns=epoch_ns, duration_ns=5_000)

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert (trace.nsys_version, trace.export_schema) == versions
    assert (trace.session_start_utc_ns, trace.capture_ns) == (epoch_ns, 5_000)
    assert (trace.name, trace.reader) == ("rank0.sqlite", "nsys_sqlite")


def test_the_earlier_name_of_the_export_settings(tmp_path: Path) -> None:
    export = Export("3.7").kernel(0, 1, "gemm").sql("ALTER TABLE META_DATA_EXPORT RENAME TO EXPORT_META_DATA")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert (trace.nsys_version, trace.export_schema) == ("2023.4.4.54", "3.7.2")


def test_kernels_alone_are_a_trace(tmp_path: Path) -> None:
    path = Export().kernel(5, 6, "gemm", short_name="g").write(tmp_path / "rank0.sqlite")
    others = "META_DATA_EXPORT META_DATA_CAPTURE StringIds ANALYSIS_DETAILS TARGET_INFO_SYSTEM_ENV"
    edit(path, *(f"DROP TABLE {table}" for table in (*others.split(), "TARGET_INFO_SESSION_START_TIME")))

    trace = read(path)

    assert rows(trace.kernels, "start_ns", "end_ns") == [(5, 6)]
    unknown = (trace.nsys_version, trace.export_schema, trace.capture_ns, trace.session_start_utc_ns)
    assert unknown == (None, None, None, None)
    assert trace.identity == CaptureIdentity(host=None, user=None, command_line=None, path=str(path))


def test_gpus_and_cuda_devices(tmp_path: Path) -> None:
    export = Export().kernel(0, 1, "gemm")
    export.gpu(
        1, "B", uuid="u1", bus_location="0000:02:00.0", sm_count=132, memory_bytes=80, memory_bandwidth_bytes_per_s=3
    )
    export.gpu(0, None, uuid="", sm_count=None, memory_bytes=0, memory_bandwidth_bytes_per_s=0)
    export.gpu(2, "a display adapter", sm_count=0)
    export.cuda_device(pid=200, device_id=0, gpu_id=1, uuid="u1", sm_count=132)
    export.cuda_device(pid=100, device_id=0, gpu_id=None, uuid=None, sm_count=None)

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert trace.gpus == (
        PhysicalGpu(0, None, None, None, None, None, None),
        PhysicalGpu(1, "B", "u1", "0000:02:00.0", 132, 80, 3),
    )
    assert trace.cuda_devices == (CudaDevice(100, 0, None, None, None), CudaDevice(200, 0, 1, "u1", 132))


def test_a_gpu_without_an_id_is_left_out_and_counted(tmp_path: Path) -> None:
    export = Export().kernel(0, 1, "gemm").gpu(0).gpu(1).sql("UPDATE TARGET_INFO_GPU SET id = 'one' WHERE id = 1")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert [gpu.gpu_id for gpu in trace.gpus] == [0]
    assert trace.unreadable_records == {"TARGET_INFO_GPU": 1}


def test_identity_is_host_user_and_command_line_and_nothing_else(tmp_path: Path) -> None:
    arguments = ["train.py", "--run name", *(f"a{index}" for index in range(2, 12))]
    settings = [
        ("COMMAND", "python"),
        *((f"ARGUMENT_{index}", argument) for index, argument in enumerate(arguments)),
        ("USER_NAME", "ada"),
        ("WORKING_DIR", "/home/ada/secret_project"),
    ]
    export = Export().kernel(0, 1, "gemm").host("node1").environment("API_KEY", "planted")
    for name, value in reversed(settings):
        export.sql(f"INSERT INTO META_DATA_CAPTURE VALUES ('PROCESS_0:{name}', '{value}')")
    path = export.write(tmp_path / "rank0.sqlite")

    trace = read(path)

    command_line = "python train.py '--run name' a2 a3 a4 a5 a6 a7 a8 a9 a10 a11"
    assert trace.identity == CaptureIdentity("node1", "ada", command_line, str(path))
    assert "planted" not in repr(trace)
    assert "secret_project" not in repr(trace)


@pytest.mark.parametrize("shift_ns", [1_700_000_000_000_000_000, 123_456_789, -1_000])
def test_times_of_a_shifted_export_count_from_session_start(tmp_path: Path, shift_ns: int) -> None:
    export = Export().kernel(10, 20, "gemm").copy(30, 40, 8).nvtx(5, None, "open").session(duration_ns=50)
    plain = read(export.write(tmp_path / "plain.sqlite"))
    shifted = edit(
        export.write(tmp_path / "shifted.sqlite"),
        f"UPDATE META_DATA_EXPORT SET value = '{shift_ns}' WHERE name = 'EXPORT_CONFIG_TIME_SHIFT'",
        *(
            f'UPDATE {table} SET start = start + {shift_ns}, "end" = "end" + {shift_ns}'
            for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "NVTX_EVENTS")
        ),
    )

    trace = read(shifted)

    for table in ("kernels", "copies", "nvtx_ranges"):
        assert rows(getattr(trace, table)) == rows(getattr(plain, table))
    assert rows(trace.nvtx_ranges, "start_ns", "end_ns") == [(5, ABSENT)]
    assert trace.capture_ns == 50


@pytest.mark.parametrize("setting", ["soon", "1.5", "9" * 30, "9" * 5000])
def test_a_time_shift_that_is_no_number_is_refused(tmp_path: Path, setting: str) -> None:
    export = Export().kernel(0, 1, "gemm")
    export.sql(f"UPDATE META_DATA_EXPORT SET value = '{setting}' WHERE name = 'EXPORT_CONFIG_TIME_SHIFT'")

    error = refusal(export.write(tmp_path / "rank0.sqlite"))

    assert error.exit_code == 2
    assert error.message == "The export's EXPORT_CONFIG_TIME_SHIFT is no number of nanoseconds."


@given(st.lists(int64), st.integers(-INT64_MAX, INT64_MAX))
def test_taking_off_a_shift_never_wraps(times_ns: list[int], shift_ns: int) -> None:
    expected = [
        time if time == ABSENT or shift_ns == 0 else min(max(time - shift_ns, ABSENT + 1), INT64_MAX)
        for time in times_ns
    ]

    assert unshifted(np.array(times_ns, np.int64), shift_ns).tolist() == expected
