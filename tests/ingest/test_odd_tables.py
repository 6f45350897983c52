"""Folders whose tables are not all ordinary files: links are followed, anything else is refused by name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from nsysan.ingest.reading import ReadOptions, read_trace, survey_report
from nsysan.model.errors import InputError
from nsysan.synth.export import Export
from tests.ingest.reading import read, refusal, rows
from tests.ingest.table_folders import FORMATS, as_folder

in_both_formats = pytest.mark.parametrize("suffix", FORMATS)
READ = {"analyze": read_trace, "info": survey_report}


def folder_of_tables(tmp_path: Path, suffix: str) -> Path:
    return as_folder(Export().kernel(10, 20, "gemm").write(tmp_path / "rank0.sqlite"), tmp_path / "tables", suffix)


@in_both_formats
def test_a_folder_of_links_to_tables_reads_as_the_tables(tmp_path: Path, suffix: str) -> None:
    folder, links = folder_of_tables(tmp_path, suffix), tmp_path / "links"
    links.mkdir()
    for path in folder.iterdir():
        (links / path.name).symlink_to(path)

    trace, original = read(links), read(folder)

    assert (trace.strings, rows(trace.kernels)) == (original.strings, rows(original.kernels))
    assert trace.fingerprint == original.fingerprint


def pipe(path: Path) -> None:
    os.mkfifo(path)


def subfolder(path: Path) -> None:
    path.mkdir()


def device(path: Path) -> None:
    path.symlink_to("/dev/null")


def dangling(path: Path) -> None:
    path.symlink_to(path.parent / "gone")


KINDS = {
    "a pipe": (pipe, "no ordinary file"),
    "a folder": (subfolder, "no ordinary file"),
    "a link to a device": (device, "no ordinary file"),
    "a link to nothing": (dangling, "a link that leads to no file"),
}


@in_both_formats
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", READ)
@pytest.mark.parametrize("table", ["StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "OSRT_API"])
def test_what_is_no_file_among_the_tables_is_refused_and_not_waited_for(
    tmp_path: Path, suffix: str, kind: str, command: str, table: str
) -> None:
    folder = folder_of_tables(tmp_path, suffix)
    make, what = KINDS[kind]
    path = folder / f"{table}{suffix}"
    path.unlink(missing_ok=True)
    make(path)

    with pytest.raises(InputError) as caught:
        READ[command](folder, ReadOptions())

    assert caught.value.message == f"{path} is {what}."
    assert caught.value.hint


@in_both_formats
def test_a_folder_of_nothing_but_broken_links_is_refused_by_the_first(tmp_path: Path, suffix: str) -> None:
    folder = tmp_path / "tables"
    folder.mkdir()
    for table in ("StringIds", "META_DATA_EXPORT"):
        dangling(folder / f"{table}{suffix}")

    assert refusal(folder).message == f"{folder}/META_DATA_EXPORT{suffix} is a link that leads to no file."
