"""Archives: what is in them comes out, what is hostile in them (M10, M11) does not, and nothing is left of it."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nsysan.model.errors import InputError
from nsysan.service.settings import UnpackingLimits
from nsysan.service.unpacking.budget import DangerousArchiveError
from nsysan.service.unpacking.entry_names import Places
from nsysan.service.unpacking.unpack import Given, unpack

LIMITS = UnpackingLimits(unpacked_bytes=1 << 20, entries=50)
SQLITE = b"SQLite format 3\0" + b"x" * 1000
REPORT = b"NVIDIA Tegra Profiler Report 2023@4@4@54" + b"y" * 1000


def _zip(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return path


def _tar(path: Path, entries: dict[str, bytes], mode: str = "w") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]  # a mode of a parameter
        for name, data in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def _tar_gz(path: Path, entries: dict[str, bytes]) -> Path:
    return _tar(path, entries, "w:gz")


def _unpacked(path: Path, limits: UnpackingLimits = LIMITS) -> dict[str, bytes]:
    """The content by the name for people."""
    folder = path.parent / "inputs"
    folder.mkdir()
    found = unpack([Given(path, path.name)], folder, limits)
    assert all(entry.path.resolve().is_relative_to(folder.resolve()) for entry in found)
    return {entry.name: entry.path.read_bytes() for entry in found if entry.path.is_file()}


def _files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if not path.is_dir()]


@pytest.mark.parametrize("pack", [_zip, _tar, _tar_gz])
def test_files_come_out_of_every_kind_of_archive_and_what_no_name_tells_is_marked(
    pack: Callable[[Path, dict[str, bytes]], Path], tmp_path: Path
) -> None:
    entries = {
        "run/rank0.sqlite": SQLITE,
        "run/rank1.nsys-rep": REPORT,
        "run/train.log": b"t",
        "__MACOSX/._rank0.sqlite": b"m",
    }
    archive = pack(tmp_path / "ranks", entries)
    (tmp_path / "inputs").mkdir()

    found = unpack([Given(archive, "ranks")], tmp_path / "inputs", LIMITS)

    assert [(entry.name, entry.path.read_bytes(), entry.beside_in) for entry in found] == [
        ("rank0.sqlite", SQLITE, None),
        ("rank1.nsys-rep", REPORT, None),
        ("train.log", b"t", "ranks"),
    ]


def test_our_names_sort_as_those_of_people_do(tmp_path: Path) -> None:
    names = ["rank10.sqlite", "rank9.sqlite", "rank\u00b2.sqlite"]
    archive = _zip(tmp_path / "ranks.zip", dict.fromkeys(names, SQLITE))
    (tmp_path / "inputs").mkdir()

    found = unpack([Given(archive, "ranks.zip")], tmp_path / "inputs", LIMITS)

    # where nothing else tells the ranks, they are counted in the order of these names
    assert [entry.name for entry in found] == names
    by_our_names = sorted(found, key=lambda entry: entry.path.name)
    assert [entry.name for entry in by_our_names] == ["rank9.sqlite", "rank10.sqlite", "rank\u00b2.sqlite"]


def test_what_is_too_large_to_tell_of_a_run_stays_in_the_archive(tmp_path: Path) -> None:
    places = Places(tmp_path, "all.tar")

    assert places.of(("checkpoint.pt",), (1 << 30) + 1) is None
    assert places.of(("rank0.nsys-rep",), (1 << 30) + 1) is not None
    assert places.of(("train.log",), 1 << 30) is not None


def test_a_packed_report_is_unpacked_and_a_packed_torch_trace_left_to_its_reader(tmp_path: Path) -> None:
    packed, trace = tmp_path / "rank0.sqlite.gz", tmp_path / "rank1.pt.trace.json.gz"
    packed.write_bytes(gzip.compress(SQLITE))
    trace.write_bytes(gzip.compress(b'{"traceEvents": []}'))
    (tmp_path / "inputs").mkdir()

    found = unpack([Given(packed, packed.name), Given(trace, trace.name)], tmp_path / "inputs", LIMITS)

    assert [(entry.name, entry.path.read_bytes()) for entry in found] == [
        ("rank0.sqlite", SQLITE),
        ("rank1.pt.trace.json.gz", trace.read_bytes()),
    ]


def test_the_tables_of_a_report_stay_in_one_folder_under_their_own_names(tmp_path: Path) -> None:
    tables = {f"out/r_pqtdir/{name}.parquet": b"PAR1" for name in ("StringIds", "CUPTI_ACTIVITY_KIND_KERNEL")}
    archive = _tar(tmp_path / "t.tar", tables)
    (tmp_path / "inputs").mkdir()

    (found,) = unpack([Given(archive, "t.tar")], tmp_path / "inputs", LIMITS)

    assert found.name == "r_pqtdir"
    assert sorted(path.name for path in found.path.iterdir()) == [
        "CUPTI_ACTIVITY_KIND_KERNEL.parquet",
        "StringIds.parquet",
    ]


@pytest.mark.parametrize("pack", [_zip, _tar, _tar_gz])
@pytest.mark.parametrize(
    "name",
    [
        "../../x.sqlite",
        "/etc/cron.d/x.sqlite",
        "a/../../x.sqlite",
        "C:\\x.sqlite",
        "..\\x.sqlite",
        "con.sqlite",
        "\\x.sqlite",
    ],
)
def test_an_entry_that_leads_away_is_refused_before_anything_is_written(
    pack: Callable[[Path, dict[str, bytes]], Path], name: str, tmp_path: Path
) -> None:
    archive = pack(tmp_path / "hostile", {"first.sqlite": SQLITE, name: SQLITE})

    with pytest.raises(DangerousArchiveError, match="would lie outside"):
        _unpacked(archive)

    assert _files_below(tmp_path) == [archive]


def test_a_link_in_a_zip_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "links.zip", {"first.sqlite": SQLITE})
    with zipfile.ZipFile(archive, "a") as opened:
        link = zipfile.ZipInfo("second.sqlite")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        opened.writestr(link, "/etc/passwd")

    with pytest.raises(DangerousArchiveError, match="is a link or a device"):
        _unpacked(archive)

    assert _files_below(tmp_path) == [archive]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_a_link_or_device_in_a_tar_is_refused_before_anything_is_written(kind: bytes, tmp_path: Path) -> None:
    archive = _tar(tmp_path / "links.tar", {"first.sqlite": SQLITE})
    with tarfile.open(archive, "a") as opened:
        link = tarfile.TarInfo("second.sqlite")
        link.type, link.linkname = kind, "/etc/passwd"
        opened.addfile(link)

    with pytest.raises(DangerousArchiveError, match="is a link or a device"):
        _unpacked(archive)

    assert _files_below(tmp_path) == [archive]


@pytest.mark.parametrize("pack", [_zip, _tar_gz])
def test_a_bomb_ends_at_the_limit_whatever_its_header_says(
    pack: Callable[[Path, dict[str, bytes]], Path], tmp_path: Path
) -> None:
    archive = pack(tmp_path / "bomb", {"a.sqlite": bytes(8 << 20)})

    with pytest.raises(DangerousArchiveError, match="unpacks to more than 1048576 bytes"):
        _unpacked(archive)

    assert sum(path.stat().st_size for path in _files_below(tmp_path / "inputs")) <= LIMITS.unpacked_bytes


def test_a_packed_report_that_never_ends_ends_at_the_limit(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.sqlite.gz"
    bomb.write_bytes(gzip.compress(SQLITE + bytes(8 << 20)))

    with pytest.raises(DangerousArchiveError, match="unpacks to more than"):
        _unpacked(bomb)


def test_a_zip_that_lies_about_its_size_ends_at_the_limit(tmp_path: Path) -> None:
    archive = _zip(tmp_path / "liar.zip", {"a.sqlite": bytes(8 << 20)})
    data = archive.read_bytes()
    archive.write_bytes(data.replace((8 << 20).to_bytes(4, "little"), (100).to_bytes(4, "little")))

    with pytest.raises(InputError):
        _unpacked(archive)

    assert sum(path.stat().st_size for path in _files_below(tmp_path / "inputs")) <= LIMITS.unpacked_bytes


@pytest.mark.parametrize("pack", [_zip, _tar, _tar_gz])
def test_too_many_entries_are_refused(pack: Callable[[Path, dict[str, bytes]], Path], tmp_path: Path) -> None:
    archive = pack(tmp_path / "many", {f"{number}.sqlite": b"x" for number in range(51)})

    with pytest.raises(DangerousArchiveError, match="more than 50 entries"):
        _unpacked(archive)

    assert _files_below(tmp_path) == [archive]


def test_an_archive_inside_an_archive_is_not_unpacked(tmp_path: Path) -> None:
    inner = _zip(tmp_path / "inner.zip", {"a.sqlite": SQLITE}).read_bytes()

    assert _unpacked(_zip(tmp_path / "outer.zip", {"inner.sqlite": inner})) == {"inner.sqlite": inner}


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("cut.zip", lambda path: _zip(path, {"a.sqlite": SQLITE}).read_bytes()[:-30]),
        ("cut.tar.gz", lambda path: _tar_gz(path, {"a.sqlite": bytes(range(256)) * 400}).read_bytes()[:-40]),
        ("cut.sqlite.gz", lambda _path: gzip.compress(SQLITE)[:-9]),
        ("no.gz", lambda _path: b"\x1f\x8bnonsense"),
    ],
)
def test_a_damaged_archive_says_so(name: str, damage: Callable[[Path], bytes], tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(damage(path))

    with pytest.raises(InputError, match=f"The archive {name} is damaged"):
        _unpacked(path)
