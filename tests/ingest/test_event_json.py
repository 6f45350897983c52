"""Payloads in nsys export -t json: exact bytes of a program that emits what NCCL does, recorded by the real nsys."""

from __future__ import annotations

import base64
import importlib.metadata
import json
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from nsysan.ingest.evidence.reading import read_evidence
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.nsys_payloads import ExportedPayloads
from nsysan.model.tables import ABSENT, NcclPayloads
from nsysan.pipeline.evidence import with_payloads
from tests.ingest.reading import rows
from tests.nsys import find_nsys, profile_ranges

SOURCE = Path(__file__).with_name("nccl_payloads.c")
COMPATIBLE = "-DNVTX_EXT_PAYLOAD_COMPATID=0x0103"
"""What NCCL asks for, and all that nsys 2023.4 takes."""
COMMUNICATOR = 0xFEDC_BA98_7654_3210
SIGNED = COMMUNICATOR - (1 << 64)
NO = ABSENT
TOLD = ("communicator_id", "size_bytes", "root", "peer", "rank", "rank_count", "device_id")


def exported(path: Path) -> NcclPayloads:
    [found] = read_evidence([path]).of(ExportedPayloads)
    return found.payloads


def event(schema: int, data: bytes, start_ns: int = 10, tid: int = 7) -> str:
    payload = {"BinaryData": [{"SchemaId": str((1 << 24) + schema), "Data": base64.b64encode(data).decode()}]}
    inside = {"Type": 59, "Timestamp": str(start_ns), "Payload": payload, "GlobalTid": str(tid), "DomainId": "1"}
    return json.dumps({"Type": 59, "NvtxEvent": inside}, separators=(",", ":"))


def events(folder: Path, *lines: str) -> Path:
    path = folder / "report.json"
    path.write_text("\n".join(('{"data":["SECRET=hf_planted"]}', *lines)) + "\n")
    return path


def header_folder() -> Path | None:
    """Where NVTX's header lies, in a folder of its own; None where the package is not installed."""
    try:
        files = importlib.metadata.files("nvidia-nvtx") or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    found = next((one for one in files if one.name == "nvToolsExt.h"), None)
    return None if found is None else Path(str(found.locate())).parents[1]


@pytest.mark.nsys
def test_exact_bytes_of_a_recorded_program(tmp_path: Path) -> None:
    include, compiler = header_folder(), shutil.which("cc") or shutil.which("gcc")
    if include is None or compiler is None:
        pytest.skip("no C compiler, or no header of NVTX")
    nsys, program = find_nsys(), tmp_path / "program"
    build = [
        compiler,
        "-Wall",
        "-Werror",
        COMPATIBLE,
        "-I",
        str(include),
        str(SOURCE),
        "-o",
        str(program),
        "-ldl",
    ]
    subprocess.run(build, check=True)
    profile_ranges(tmp_path, str(program))
    for form in ("json", "sqlite"):
        export = [nsys, "export", "-q", "true", "-t", form, "-o", f"rank0.{form}", "rank0.nsys-rep"]
        subprocess.run(export, cwd=tmp_path, check=True)

    evidence = read_evidence([tmp_path / "rank0.json"])
    trace = read_trace(tmp_path / "rank0.sqlite", ReadOptions())
    [joined], [note] = with_payloads([trace], evidence)

    # the SQLite export of nsys 2023.4 has the ranges, and nothing of what is attached to them
    assert trace.nccl_payloads is None
    payloads = joined.nccl_payloads
    assert rows(payloads, *TOLD) == [
        (SIGNED, NO, NO, NO, 5, 16, 1),
        (SIGNED, 5_000_000_000, NO, NO, NO, NO, NO),
        (SIGNED, 67_108_864, NO, NO, NO, NO, NO),
        (7, 128, NO, 2, NO, NO, NO),
    ]
    ranges = rows(trace.nvtx_ranges, "start_ns", "global_tid", "name_id")
    named = {tuple(place): trace.text(name_id) for *place, name_id in ranges}
    assert [named[place] for place in rows(payloads, "start_ns", "global_tid")] == [
        "ncclCommInitRankConfig",
        "ncclAllReduce",
        "ncclAllGather",
        "ncclSend",
    ]
    assert "4 calls of NCCL" in note.sentence


@pytest.mark.parametrize(
    ("schema", "data", "told"),
    [
        # before NCCL 2.25 without the communicator: the size of the payload tells
        (5, struct.pack("<Qi4x", 512, 0), (NO, 512, NO, NO, NO, NO, NO)),
        (5, struct.pack("<QQi4x", 9, 512, 0), (9, 512, NO, NO, NO, NO, NO)),
        (8, struct.pack("<Qii", 64, 3, 0), (NO, 64, 3, NO, NO, NO, NO)),
        (10, struct.pack("<QQi4x", 9, 64, 3), (9, 64, NO, 3, NO, NO, NO)),
        (13, struct.pack("<QQiiiii4x", 9, 8, 4, 1, 0, 2, 0), (9, NO, NO, NO, 1, 4, 0)),
        (17, struct.pack("<QQi4x", 9, 64, 0), (9, 64, 0, NO, NO, NO, NO)),
        (0, struct.pack("<iii", 1, 4, 0), (NO, NO, NO, NO, 1, 4, 0)),
    ],
)
def test_layouts_of_releases(tmp_path: Path, schema: int, data: bytes, told: tuple[int, ...]) -> None:
    assert rows(exported(events(tmp_path, event(schema, data))), "start_ns", "global_tid", *TOLD) == [(10, 7, *told)]


@pytest.mark.parametrize(
    "line",
    [
        event(5, b"too short"),
        event(77, struct.pack("<QQ", 9, 512)),
        event(5, struct.pack("<QQi4x", 9, 512, 0))[:-20],
        '{"Type":59,"NvtxEvent":{"Payload":{"BinaryData":[{"SchemaId":"16777221","Data":"%%%"}]}}}',
        '{"Type":59,"NvtxEvent":{"BinaryData":' + "[" * 100_000,
        '{"Type":80,"CudaEvent":{"BinaryData":1}}',
        event(4, struct.pack("<QQ", 9, 64), start_ns=1 << 70),
        event(4, struct.pack("<QQ", 9, 64), tid=-1),
    ],
)
def test_damage_tells_nothing(tmp_path: Path, line: str) -> None:
    assert len(exported(events(tmp_path, line))) == 0


def test_nothing_else_of_the_report_is_kept(tmp_path: Path) -> None:
    [found] = read_evidence([events(tmp_path, event(4, struct.pack("<QQ", 9, 64)))]).items

    assert "hf_planted" not in repr(found)
