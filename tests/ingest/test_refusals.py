"""What is no report: one sentence that says what it is, the next thing to try, exit code 2, and nothing written."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from nsysan.ingest.reading import ReadOptions
from nsysan.synth.export import Export
from tests.ingest.permissions import as_nobody
from tests.ingest.reading import edit, names_in, read, refusal

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 12345\n"
# the first bytes of a stream written by nsys 2023.4 where its importer was missing
RAW_STREAM = b"U3w[END]NVIDIA Nsight Systems Stream 2023.4.4.54-234433681190v0!\n"
GIVE_A_REPORT = "Give the .nsys-rep that nsys profile wrote, or an SQLite export of it."

WRONG_CONTENT = {
    "picture.sqlite": (
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        'a PNG picture; it begins with "\\x89PNG\\x0d\\x0a\\x1a\\x0a\\x00\\x00\\x00\\x0dIHDR".',
        GIVE_A_REPORT,
    ),
    "page.nsys-rep": (
        b"\n<!DOCTYPE html><html><title>404</title>",
        'a web page or XML document; it begins with "\\x0a<!DOCTYPE html>".',
        "A download may have saved an error or login page in its place: fetch the report again.",
    ),
    "notes.sqlite": (b"hello", 'text; it begins with "hello".', GIVE_A_REPORT),
    "archive.nsys-rep": (
        b"PK\x03\x04more",
        'a ZIP archive; it begins with "PK\\x03\\x04more".',
        "Unpack it and give the report inside.",
    ),
    "packed.sqlite": (
        b"\x1f\x8b\x08\0" * 4,
        'gzip-compressed data; it begins with "' + "\\x1f\\x8b\\x08\\x00" * 4 + '".',
        "Unpack it and give the report inside.",
    ),
    "pointer.nsys-rep": (
        LFS_POINTER,
        'a Git LFS pointer, the stand-in for a file; it begins with "version https://".',
        "Fetch the content with: git lfs pull",
    ),
    "report.json": (
        b'{"data":["QnxKernelTrace"]}\n{"Type":75,"NvtxEvent":{"Type":75}}\n',
        'an export of a report as JSON; it begins with "{"data":["QnxKer".',
        "Give an SQLite export of the report, and this beside it with --evidence: it tells what NCCL's calls move.",
    ),
    "nccl.log": (
        b"node0:7:8 [0] NCCL INFO Using network IB\n",
        'a log of NCCL; it begins with "node0:7:8 [0] NC".',
        "Give it with --evidence, beside the report of the run.",
    ),
    "encrypted.nsys-rep": (
        b"\x8f\xee\x01\xfa" * 8,
        'data of an unknown kind; it begins with "' + "\\x8f\\xee\\x01\\xfa" * 4 + '".',
        GIVE_A_REPORT,
    ),
}


@pytest.mark.parametrize("name", WRONG_CONTENT)
def test_a_file_that_is_something_else(tmp_path: Path, name: str) -> None:
    content, what, hint = WRONG_CONTENT[name]
    path = tmp_path / name
    path.write_bytes(content)

    error = refusal(path)

    assert (error.exit_code, error.message, error.hint) == (
        2,
        f"{path} is no Nsight Systems report or export but {what}",
        hint,
    )
    assert names_in(tmp_path) == [name]


# M21
@pytest.mark.parametrize(("name", "content"), [("a.qdstrm", b"\1\2\3\4"), ("renamed.nsys-rep", RAW_STREAM)])
def test_a_raw_stream_says_how_to_import_it(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)

    error = refusal(tmp_path / name)

    assert error.exit_code == 2
    assert "a raw stream that nsys did not turn into a report" in error.message
    assert "QdstrmImporter -i FILE.qdstrm" in error.hint


def test_an_empty_file(tmp_path: Path) -> None:
    path = tmp_path / "rank0.nsys-rep"
    path.touch()

    error = refusal(path)

    assert (error.exit_code, error.message) == (2, f"{path} is empty: the capture did not finish.")


@pytest.mark.parametrize("name", ["absent.sqlite", "absent/absent.nsys-rep"])
def test_a_missing_path(tmp_path: Path, name: str) -> None:
    error = refusal(tmp_path / name)

    assert (error.exit_code, error.message) == (2, f"There is no file {tmp_path / name}.")
    assert names_in(tmp_path) == []


def test_a_path_that_cannot_be_one(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_text("x")

    messages = [refusal(Path(path)).message for path in (tmp_path / "loop", tmp_path / "file" / "x", "a\0b", "x" * 300)]

    assert messages == [
        f"{tmp_path}/loop cannot be read: Too many levels of symbolic links.",
        f"{tmp_path}/file/x cannot be read: Not a directory.",
        "a\\x00b is no path: it holds a zero byte.",
        f"{'x' * 300} cannot be read: File name too long.",
    ]


def test_a_folder_is_no_report(tmp_path: Path) -> None:
    error = refusal(tmp_path)

    assert (error.exit_code, error.message) == (2, f"{tmp_path} is a folder, not a report.")
    assert error.hint == "Give one of the reports in it."


def test_special_files_are_refused_without_waiting_for_them(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.nsys-rep")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        messages = [refusal(path).message for path in (tmp_path / "pipe.nsys-rep", tmp_path / "s", Path("/dev/null"))]

    assert messages == [
        f"{tmp_path}/pipe.nsys-rep is no file but a pipe.",
        f"{tmp_path}/s is no file but a socket.",
        "/dev/null is no file but a device.",
    ]


def test_a_file_that_this_user_may_not_read(open_folder: Path) -> None:
    path = Export().kernel(0, 1, "gemm").write(open_folder / "rank0.sqlite")
    path.chmod(0o600)

    with as_nobody():
        error = refusal(path)

    assert (error.exit_code, error.message) == (2, f"{path} may not be read by this user.")


def test_another_database(tmp_path: Path) -> None:
    path = edit(tmp_path / "cookies.sqlite", "CREATE TABLE cookies (name TEXT)")

    error = refusal(path)

    assert error.exit_code == 2
    assert error.message.startswith(f"{path} is an SQLite database but no Nsight Systems export; it has none of the")
    for table in ("CUPTI_ACTIVITY_KIND_KERNEL", "NVTX_EVENTS", "StringIds", "META_DATA_EXPORT"):
        assert table in error.message


ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS start, i AS "end" FROM n'


@pytest.mark.parametrize("table", ["CUPTI_ACTIVITY_KIND_KERNEL", "StringIds", "META_DATA_EXPORT"])
def test_a_table_that_is_a_view_is_refused_by_name_before_it_runs(tmp_path: Path, table: str) -> None:
    export = Export().kernel(0, 1, "gemm").sql(f"DROP TABLE {table}").sql(f"CREATE VIEW {table} AS {ENDLESS}")
    path = export.write(tmp_path / "rank0.sqlite")

    error = refusal(path)

    assert error.exit_code == 2
    assert error.message == f"{path} has {table} as a view or virtual table, where nsys writes a table."


def test_a_virtual_table_is_refused_by_name(tmp_path: Path) -> None:
    export = Export().kernel(0, 1, "gemm").sql("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL")
    path = export.sql('CREATE VIRTUAL TABLE NVTX_EVENTS USING fts5(start, "end")').write(tmp_path / "rank0.sqlite")

    assert refusal(path).message.startswith(f"{path} has NVTX_EVENTS as a view or virtual table")


def test_views_that_nsysan_does_not_read_do_no_harm(tmp_path: Path) -> None:
    export = Export().kernel(0, 1, "gemm").sql(f"CREATE VIEW my_view AS {ENDLESS}")

    trace = read(export.write(tmp_path / "rank0.sqlite"))

    assert trace.kernels is not None


def test_content_decides_not_the_suffix(tmp_path: Path) -> None:
    path = Export().kernel(0, 1, "gemm").write(tmp_path / "rank0.nsys-rep")

    assert read(path).reader == "nsys_sqlite"


def test_a_hostile_name_is_spelt_out(tmp_path: Path) -> None:
    path = tmp_path / "\x1b[31mred\u202e.sqlite"
    path.write_text("x")

    error = refusal(path, ReadOptions())

    assert "\\x1b[31mred\\u202e.sqlite" in error.message
    assert "\x1b" not in str(error)
