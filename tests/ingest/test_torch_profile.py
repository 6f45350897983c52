"""What each event of a PyTorch trace becomes, and which are left out."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.copies import CopyKind, MemoryKind
from nsysan.model.tables import ABSENT
from nsysan.model.trace import CudaDevice, PhysicalGpu
from tests.ingest.reading import read, rows
from tests.ingest.torch_traces import annotation, as_json, event, kernel, written
from tests.watching import Watching

PID = 42
PROCESS = PID << 24
MAIN = (PID, PID)
MAIN_TID = PROCESS | PID
TEN_DAYS_US = 864_000_000_000


def test_gpu_work_belongs_to_the_process_of_the_cpu_events(tmp_path: Path) -> None:
    trace = read(
        written(
            tmp_path,
            event("cuda_runtime", "cudaLaunchKernel", 1000, 4.25, thread=MAIN, correlation=9, cbid=211),
            kernel(1006.5, 2.001, correlation=9, device=3, stream=20),
            event(
                "gpu_memset", "Memset (Device)", 1010, 1, thread=(3, 7), device=3, stream=7, correlation=10, bytes=64
            ),
        )
    )

    # session start is the earliest event, at 1000 us; columns: times, process, device, context, stream, correlation
    assert rows(trace.kernels) == [(6_500, 8_501, PROCESS, 3, 1, 20, 9, 1)]
    assert rows(trace.memsets) == [(10_000, 11_000, PROCESS, 3, ABSENT, 7, 10, 64)]
    assert rows(trace.runtime_calls) == [(0, 4_250, MAIN_TID, 9, 0, 0)]
    assert dict(trace.strings) == {0: "cudaLaunchKernel", 1: "gemm"}
    assert (trace.reader, trace.capture_ns, trace.copies, trace.nvtx_ranges) == ("torch_profile", 11_000, None, None)


def test_what_is_not_asked_for_is_not_kept(tmp_path: Path) -> None:
    """As of an export: work stays, what the host did and the shapes of kernels go."""
    path = written(tmp_path, event("cuda_runtime", "cudaLaunchKernel", 1, 4, thread=MAIN, correlation=9), kernel(6, 2))

    trace = read_trace(path, ReadOptions(with_host=False, details=frozenset()))

    assert (trace.runtime_calls, trace.nvtx_ranges, trace.kernel_dimensions) == (None, None, None)
    assert rows(trace.kernels, "start_ns", "end_ns", "global_pid") == [(5_000, 7_000, PROCESS)]


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("Memcpy HtoD (Pageable -> Device)", (CopyKind.HOST_TO_DEVICE, MemoryKind.PAGEABLE, MemoryKind.DEVICE)),
        ("Memcpy DtoH (Device -> Pinned)", (CopyKind.DEVICE_TO_HOST, MemoryKind.DEVICE, MemoryKind.PINNED)),
        ("Memcpy PtoP (Device -> Device Static)", (CopyKind.PEER_TO_PEER, MemoryKind.DEVICE, MemoryKind.DEVICE_STATIC)),
        ("Memcpy XtoY (Device -> Moon)", (ABSENT, MemoryKind.DEVICE, ABSENT)),
        ("copied", (ABSENT, ABSENT, ABSENT)),
    ],
)
def test_a_copy_says_its_kind_in_its_name(tmp_path: Path, name: str, kinds: tuple[int, int, int]) -> None:
    copy = event("gpu_memcpy", name, 5, 1, thread=(0, 7), inDevice=0, fromDevice=0, toDevice=1, bytes=4096)

    trace = read(written(tmp_path, copy))

    found = rows(trace.copies, "device_id", "size_bytes", "copy_kind", "src_kind", "dst_kind", "dst_device_id")
    assert found == [(0, 4096, *kinds, 1)]


def test_operators_and_annotations_are_ranges_with_shapes_as_emit_nvtx_writes_them(tmp_path: Path) -> None:
    shapes = {"Input Dims": [[8192, 4096], [4096, 14336]]}
    trace = read(
        written(
            tmp_path,
            event("cpu_op", "aten::mm", 10, 5, thread=MAIN, **shapes),
            event("cpu_op", "aten::cat", 16, 1, thread=MAIN, **{"Input Dims": [[[2, 3], [2, 3]], []]}),
            event("cpu_op", "aten::add", 18, 1, thread=MAIN, **{"Input Dims": "?"}),
            event("user_annotation", "ProfilerStep#6", 0, 20, thread=(PID, 1 << 40)),
        )
    )

    # a thread id of more than 24 bits is replaced by the last that fits
    last_tid = PROCESS | 0xFFFFFF
    named = [(*row[:4], trace.text(row[4])) for row in rows(trace.nvtx_ranges)]
    assert named == [
        (10_000, 15_000, MAIN_TID, 1, "aten::mm, sizes = [[8192, 4096], [4096, 14336]]"),
        (16_000, 17_000, MAIN_TID, 1, "aten::cat, sizes = [[[2, 3], [2, 3]], []]"),
        (18_000, 19_000, MAIN_TID, 1, "aten::add"),
        (0, 20_000, last_tid, 2, "ProfilerStep#6"),
    ]
    assert dict(trace.nvtx_domains) == {(PROCESS, 1): "cpu_op", (PROCESS, 2): "user_annotation"}


def test_what_the_trace_says_once(tmp_path: Path) -> None:
    gpu = {"id": 0, "name": "Tesla V100-PCIE-32GB", "totalGlobalMem": 34_079_637_504, "numSms": 80}
    trace = read(
        written(
            tmp_path,
            annotation(1000, 5),
            deviceProperties=[gpu],
            distributedInfo={"backend": "nccl", "rank": 3, "world_size": 16},
            baseTimeNanoseconds=1_719_853_884_000_000_000,
        )
    )

    assert (trace.rank, trace.world_size, trace.session_start_utc_ns) == (3, 16, 1_719_853_884_001_000_000)
    assert trace.gpus == (PhysicalGpu(0, "Tesla V100-PCIE-32GB", None, None, 80, 34_079_637_504, None),)
    assert trace.cuda_devices == (CudaDevice(PID, 0, 0, None, 80),)


def test_what_it_does_not_say_is_unknown(tmp_path: Path) -> None:
    odd = {"deviceProperties": [7, {"name": "no id"}], "distributedInfo": {"rank": True, "world_size": 0}}

    trace = read(written(tmp_path, annotation(1000, 5), baseTimeNanoseconds="soon", **odd))

    assert (trace.gpus, trace.rank, trace.world_size, trace.session_start_utc_ns) == ((), None, None, None)


@pytest.mark.parametrize("base_time_ns", [-5, 1 << 62, 10**30])
def test_a_base_that_no_time_counts_from(tmp_path: Path, base_time_ns: int) -> None:
    trace = read(written(tmp_path, annotation(1000, 5), baseTimeNanoseconds=base_time_ns))

    assert trace.session_start_utc_ns is None


def test_times_of_older_traces_count_from_1970(tmp_path: Path) -> None:
    trace = read(written(tmp_path, annotation(1_719_853_884_000_123, 5)))

    assert trace.session_start_utc_ns == 1_719_853_884_000_123_000


def test_categories_of_older_traces(tmp_path: Path) -> None:
    older = kernel(5, 1) | {"cat": "Kernel"}, event("Operator", "aten::mm", 1, 1, thread=MAIN)

    trace = read(written(tmp_path, *older))

    assert rows(trace.kernels, "start_ns") == [(4_000,)]
    assert rows(trace.nvtx_ranges, "start_ns") == [(0,)]


def test_where_only_the_gpu_is_traced_the_label_names_the_process(tmp_path: Path) -> None:
    label = {"name": "process_labels", "ph": "M", "pid": PID, "args": {"labels": "CPU"}}

    trace = read(written(tmp_path, kernel(5, 1), label))

    assert rows(trace.kernels, "global_pid") == [(PROCESS,)]


@pytest.mark.parametrize(
    "broken",
    [
        {"ts": None},
        {"dur": None},
        {"ts": "5"},
        {"ts": True},
        {"ts": float("nan")},
        {"ts": float("inf")},
        {"ts": 10**30},
        {"ts": 4 * 10**15, "dur": 4 * 10**15},
        {"ts": [5]},
        {"ph": "B"},
        {"args": None, "pid": "GPU"},
        {"args": {"device": 1 << 70}},
    ],
)
def test_an_event_without_what_it_needs_is_counted_and_left_out(tmp_path: Path, broken: dict[str, object]) -> None:
    trace = read(written(tmp_path, kernel(5, 1), kernel(7, 1) | broken, annotation(3, 1)))

    assert rows(trace.kernels, "start_ns", "end_ns") == [(2_000, 3_000)]
    assert dict(trace.unreadable_records) == {"kernel": 1}


def test_events_that_are_none_and_of_other_kinds(tmp_path: Path) -> None:
    flow = {"ph": "s", "id": 1, "pid": 1, "tid": 1, "ts": 1, "cat": "ac2g", "name": "ac2g"}

    trace = read(written(tmp_path, 7, None, [kernel(1, 1)], {}, flow, {"cat": ["kernel"]}, kernel(5, 1)))

    assert rows(trace.kernels, "start_ns") == [(0,)]
    assert dict(trace.unreadable_records) == {"traceEvents": 3}


def test_a_damaged_time_does_not_move_the_session(tmp_path: Path) -> None:
    damaged = kernel(0, 0), kernel(-(10**15), 1)

    trace = read(written(tmp_path, *damaged, annotation(4 * TEN_DAYS_US, 9), kernel(4 * TEN_DAYS_US + 2, 5)))

    assert trace.capture_ns == 9_000
    assert rows(trace.kernels, "start_ns")[2] == (2_000,)
    # the others stay further away than any capture is long, and are left out as impossible
    assert max(rows(trace.kernels, "start_ns")[:2]) < (-TEN_DAYS_US * 1000,)


@pytest.mark.parametrize("suffix", ["json", "json.gz", "sqlite"])
def test_content_decides_whether_it_is_packed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"rank0.{suffix}"
    text = as_json(kernel(5, 1)).encode()
    path.write_bytes(gzip.compress(text) if suffix != "json" else b"\xef\xbb\xbf \n" + text)

    trace = read(path)

    assert (trace.reader, rows(trace.kernels, "start_ns")) == ("torch_profile", [(0,)])


def test_names_that_are_no_text_of_any_encoding(tmp_path: Path) -> None:
    path = written(tmp_path, kernel(5, 1, name="\ud800"), kernel(6, 1, name="NAME"))
    path.write_bytes(path.read_bytes().replace(b"NAME", b"\xff\0\n"))

    assert list(read(path).strings.values()) == ["?", "\ufffd\0\n"]


def test_the_reader_says_what_it_does(tmp_path: Path) -> None:
    told: list[str] = []

    read_trace(written(tmp_path, kernel(5, 1)), ReadOptions(progress=Watching(told.append)))

    assert told == [f"reading {tmp_path}/rank0.pt.trace.json"]
