"""What files that are handed over by mistake begin with, and what to do with each."""

from __future__ import annotations

import codecs

import msgspec

from nsysan.ingest.nccl_log.reading import MARKS
from nsysan.ingest.nsys.event_json import begins_like_events
from nsysan.ingest.reader import Candidate
from nsysan.ingest.torch.opening import RECORD_AGAIN, is_cut_before_its_keys


class Look(msgspec.Struct, frozen=True):
    """What a file seems to be, as the end of "it is ..."; the hint is empty where there is nothing special to do."""

    what: str
    hint: str = ""


_UNPACK = "Unpack it and give the report inside."
_IMPORT = (
    "Import it with the QdstrmImporter of the nsys that wrote it (in the folder host-linux-x64 beside its "
    "target folder): QdstrmImporter -i FILE.qdstrm; then give the report that it writes."
)
_FETCH = "Fetch the content with: git lfs pull"
_SAVED_PAGE = "A download may have saved an error or login page in its place: fetch the report again."
_GIVE_FOLDER = (
    "Give the whole folder that nsys export -t parquetdir or -t arrowdir wrote, or export the report as SQLite: "
    "nsys export -t sqlite REPORT"
)
_RAW_STREAM = Look("a raw stream that nsys did not turn into a report", _IMPORT)

_EVENTS = Look(
    "an export of a report as JSON",
    "Give an SQLite export of the report, and this beside it with --evidence: it tells what NCCL's calls move.",
)
_LOG = Look("a log of NCCL", "Give it with --evidence, beside the report of the run.")
_CUT_TRACE = Look("the begin of a trace of PyTorch's profiler that was cut off", RECORD_AGAIN)

_BY_FIRST_BYTES = (
    (b"version https://git-lfs.github.com/spec/", Look("a Git LFS pointer, the stand-in for a file", _FETCH)),
    (b"\x89PNG\r\n\x1a\n", Look("a PNG picture")),
    (b"\xff\xd8\xff", Look("a JPEG picture")),
    (b"%PDF-", Look("a PDF document")),
    (b"PK\x03\x04", Look("a ZIP archive", _UNPACK)),
    (b"\x1f\x8b", Look("gzip-compressed data", _UNPACK)),
    (b"BZh", Look("bzip2-compressed data", _UNPACK)),
    (b"\xfd7zXZ\x00", Look("xz-compressed data", _UNPACK)),
    (b"\x28\xb5\x2f\xfd", Look("Zstandard-compressed data", _UNPACK)),
    (b"\x89HDF\r\n\x1a\n", Look("an HDF5 file", "Export the report as SQLite instead: nsys export -t sqlite REPORT")),
    (b"PAR1", Look("a Parquet file", _GIVE_FOLDER)),
    (b"ARROW1", Look("an Arrow file", _GIVE_FOLDER)),
    (b"\xff\xff\xff\xff", Look("an Arrow stream", _GIVE_FOLDER)),
    (b"\x7fELF", Look("a program")),
)
_STREAM_MARK = b"NVIDIA Nsight Systems Stream"
_PAGE_MARKS = (b"<!doctype html", b"<html", b"<?xml")


def look_of(candidate: Candidate) -> Look:
    """What the candidate looks like, by its first bytes, then by its name."""
    is_whole = candidate.size_bytes == len(candidate.head)
    if is_whole and is_cut_before_its_keys(candidate.head, candidate.path.name):
        return _CUT_TRACE
    for first_bytes, look in _BY_FIRST_BYTES:
        if candidate.head.startswith(first_bytes):
            return look
    if _STREAM_MARK in candidate.head or candidate.path.suffix == ".qdstrm":
        return _RAW_STREAM
    if candidate.head.lstrip().lower().startswith(_PAGE_MARKS):
        return Look("a web page or XML document", _SAVED_PAGE)
    return _look_of_text(candidate.head) if _is_text(candidate.head) else Look("data of an unknown kind")


def _look_of_text(head: bytes) -> Look:
    """Text that says more as evidence, or says nothing here."""
    if begins_like_events(head):
        return _EVENTS
    return Look("text") if MARKS.search(head) is None else _LOG


def _is_text(head: bytes) -> bool:
    try:
        # incremental, so that a character cut by the end of the head is no fault
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return all(character.isprintable() or character.isspace() for character in text)
