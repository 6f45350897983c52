"""What a folder stands for: its reports, each once, whatever tools have left beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.model.errors import InputError
from nsysan.pipeline.inputs import expand_inputs, expand_patterns, report_stem, without_copies


def make(folder: Path, *names: str) -> None:
    """Empty files, and folders of tables where a name ends in a slash."""
    for name in names:
        path = folder / name
        if name.endswith("/"):
            path.mkdir()
            (path / "StringIds.parquet").touch()
        else:
            path.touch()


@pytest.mark.parametrize(
    ("present", "taken"),
    [
        (["rank10.sqlite", "rank9.sqlite"], ["rank9.sqlite", "rank10.sqlite"]),
        (["rank0.nsys-rep", "rank0.sqlite"], ["rank0.sqlite"]),
        # nsys recipe leaves folders with only the tables that it needed
        (["rank0.nsys-rep", "rank0_pqtdir/", "rank0_arwdir/"], ["rank0.nsys-rep"]),
        (["rank0.sqlite", "rank0_pqtdir/"], ["rank0.sqlite"]),
        (["rank0_pqtdir/", "rank1_arwdir/"], ["rank0_pqtdir", "rank1_arwdir"]),
        (["rank0_pqtdir/", "rank0_arwdir/"], ["rank0_arwdir"]),
        (["any name/", "rank0.qdrep"], ["any name", "rank0.qdrep"]),
        # a kept export is of some rank0.nsys-rep: of which content, only reading that tells
        (["rank0.nsys-rep", "rank0.nsysan.sqlite"], ["rank0.nsys-rep"]),
        (["rank0.nsysan.sqlite"], ["rank0.nsysan.sqlite"]),
        (["rank0.sqlite", "notes.txt", "rank0.nsysan.html"], ["rank0.sqlite"]),
    ],
)
def test_the_reports_of_a_folder(tmp_path: Path, present: list[str], taken: list[str]) -> None:
    make(tmp_path, *present)
    (tmp_path / "a folder without tables").mkdir()

    assert expand_inputs([tmp_path]) == [tmp_path / name for name in taken]


@pytest.mark.parametrize("table", ["StringIds.parquet", "META_DATA_EXPORT.arrow", "CUPTI_ACTIVITY_KIND_KERNEL.arrow"])
def test_a_folder_of_tables_is_one_report(tmp_path: Path, table: str) -> None:
    make(tmp_path, table, "rank0.sqlite")

    assert expand_inputs([tmp_path]) == [tmp_path]


def test_a_folder_with_other_parquet_files_holds_no_report(tmp_path: Path) -> None:
    make(tmp_path, "losses.parquet")

    with pytest.raises(InputError, match="holds no report"):
        expand_inputs([tmp_path])


def test_a_folder_of_tables_given_twice_counts_once(tmp_path: Path) -> None:
    make(tmp_path, "one/", "two/")
    paths = [tmp_path / "one", tmp_path / "two", tmp_path / "two" / ".." / "one"]

    kept, notes = without_copies(paths)

    assert kept == paths[:2]
    assert [note.sentence for note in notes] == ["one and one have the same content: it is counted once."]


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("rank0.nsys-rep", "rank0"),
        ("a/rank0.pt.trace.json.gz", "rank0"),
        (".", "inner"),
        ("..", "outer"),
        ("../inner/..", "outer"),
        ("/", "reports"),
        ("/..", "reports"),
    ],
)
def test_what_a_page_is_named_after(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, stem: str) -> None:
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "outer" / "inner")

    assert report_stem(Path(path)) == stem


@pytest.mark.parametrize(
    ("present", "pattern", "taken"),
    [
        (["rank10.sqlite", "rank9.sqlite", "notes.txt"], "rank*.sqlite", ["rank9.sqlite", "rank10.sqlite"]),
        (["rank1.sqlite", "rank2.sqlite", "rank3.sqlite"], "rank[12].sqlite", ["rank1.sqlite", "rank2.sqlite"]),
        (["run[0].sqlite", "run0.sqlite"], "run[0].sqlite", ["run[0].sqlite"]),
        (["rank0_pqtdir/", "rank1_pqtdir/"], "rank*_pqtdir", ["rank0_pqtdir", "rank1_pqtdir"]),
        (["rank0.sqlite"], "node*.sqlite", ["node*.sqlite"]),
        (["rank0.sqlite"], "x" * 300 + "*", ["x" * 300 + "*"]),
    ],
)
def test_wildcards_that_no_shell_has_resolved(
    tmp_path: Path, present: list[str], pattern: str, taken: list[str]
) -> None:
    make(tmp_path, *present)

    assert expand_patterns([tmp_path / pattern]) == [tmp_path / name for name in taken]


def test_wildcards_reach_into_folders(tmp_path: Path) -> None:
    for node in ("node10", "node9"):
        (tmp_path / node).mkdir()
        make(tmp_path / node, "rank0.sqlite")

    found = expand_patterns([tmp_path / "**" / "*.sqlite"])

    assert found == [tmp_path / "node9/rank0.sqlite", tmp_path / "node10/rank0.sqlite"]
