"""Which nsys exports a report: the one that is named, and only that; else the newest there is."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nsysan.ingest.nsys import installation
from nsysan.ingest.nsys.installation import INSTALLED_AT
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.synth.export import Export
from tests.ingest.nsys_stand_in import REPORT_HEAD, StandIn, copies
from tests.ingest.reading import refusal


@pytest.fixture(autouse=True)
def no_other_nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NSYSAN_NSYS", raising=False)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr(installation, "INSTALLED_AT", tuple(f"{tmp_path}{pattern}" for pattern in INSTALLED_AT))


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """What every stand-in exports the report to."""
    return Export().kernel(0, 5, "gemm").write(tmp_path / "exported.sqlite")


@pytest.fixture
def report(tmp_path: Path) -> Path:
    """A report of nsys 2023.4.4.54; only its first bytes matter to the stand-ins."""
    path = tmp_path / "rank0.nsys-rep"
    path.write_bytes(REPORT_HEAD)
    return path


def install(folder: Path, export: Path, version: str = "2023.4.4.54") -> StandIn:
    """An nsys in ``folder``, which is made."""
    folder.mkdir(parents=True)
    return StandIn(folder, copies(export), version=version)


def test_nsys_is_taken_from_the_option_then_the_environment_then_the_path(
    tmp_path: Path, report: Path, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nsys = {}
    for source in ("option", "environment", "path"):
        (tmp_path / source).mkdir()
        nsys[source] = StandIn(tmp_path / source, copies(export))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}:/usr/bin:/bin")
    monkeypatch.setenv("NSYSAN_NSYS", str(nsys["environment"].executable))

    read_trace(report, ReadOptions(nsys=str(nsys["option"].executable)))
    asked = [[source for source in nsys if nsys[source].was_asked()]]
    read_trace(report, ReadOptions())
    asked.append([source for source in nsys if nsys[source].was_asked()])
    monkeypatch.delenv("NSYSAN_NSYS")
    read_trace(report, ReadOptions())
    asked.append([source for source in nsys if nsys[source].was_asked()])

    assert asked == [["option"], ["option", "environment"], ["option", "environment", "path"]]


def test_a_named_nsys_that_is_not_there(tmp_path: Path, report: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    absent = str(tmp_path / "absent")
    by_option = refusal(report, ReadOptions(nsys=absent))
    monkeypatch.setenv("NSYSAN_NSYS", absent)
    by_environment = refusal(report)

    for error in (by_option, by_environment):
        assert (error.exit_code, error.message) == (3, f"{absent} is no program that can be run.")


def test_a_named_program_that_is_no_nsys(tmp_path: Path, report: Path) -> None:
    no_program = tmp_path / "no_program"
    no_program.write_bytes(b"\x7fELF nonsense")
    no_program.chmod(0o755)

    messages = [refusal(report, ReadOptions(nsys=nsys)).message for nsys in ("/bin/true", str(no_program))]

    assert messages == [
        "/bin/true does not answer as nsys does.",
        f"{no_program} cannot be run: Exec format error.",
    ]


PLACES = (
    "path/first",
    "path/second",
    "opt/nvidia/nsight-systems/2024.6.2/bin",
    "opt/nvidia/nsight-systems-cli/2025.1.1/target-linux-x64",
    "opt/nvidia/nsight-systems-2022/bin",
    "usr/local/cuda-12.4/bin",
    "usr/lib/nsight-systems/bin",
)


@pytest.mark.parametrize("newest", PLACES)
def test_the_newest_is_taken_wherever_it_is(
    tmp_path: Path, report: Path, export: Path, newest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = {place: "2026.10.1.7" if place == newest else "2026.9.2.8" for place in PLACES}
    installed = {place: install(tmp_path / place, export, version) for place, version in versions.items()}
    monkeypatch.setenv("PATH", f"{tmp_path}/path/first::{tmp_path}/path/second:/usr/bin:/bin")

    read_trace(report, ReadOptions())

    assert [place for place in PLACES if installed[place].was_asked()] == [newest]


def test_of_equal_versions_the_first_on_the_path_is_taken(
    tmp_path: Path, report: Path, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = [install(tmp_path / place, export) for place in ("opt/nvidia/nsight-systems/2023.4.4/bin", "b", "a")]
    monkeypatch.setenv("PATH", f"{tmp_path}/b:{tmp_path}/a:/usr/bin:/bin")

    read_trace(report, ReadOptions())

    assert [nsys.was_asked() for nsys in installed] == [False, True, False]


def test_the_newest_of_several_is_still_too_old(
    tmp_path: Path, report: Path, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "a", export, "2022.4.2.1")
    install(tmp_path / "b", export, "2023.2.1.1")
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/b:/usr/bin:/bin")

    error = refusal(report)

    assert error.message.endswith("the nsys at hand, 2023.2.1.1, is older and cannot read it.")


@pytest.mark.parametrize("source", ["option", "environment"])
def test_a_named_nsys_is_used_alone_even_where_a_newer_one_is_there(
    tmp_path: Path, report: Path, export: Path, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = install(tmp_path / "named", export, "2022.4.2.1")
    newer = install(tmp_path / "newer", export, "2026.2.1.210")
    monkeypatch.setenv("PATH", f"{tmp_path}/newer:/usr/bin:/bin")
    if source == "environment":
        monkeypatch.setenv("NSYSAN_NSYS", str(named.executable))

    error = refusal(report, ReadOptions(nsys=str(named.executable) if source == "option" else None))

    assert "the nsys at hand, 2022.4.2.1, is older" in error.message
    assert not newer.was_asked()


def test_a_program_that_is_no_nsys_does_not_hide_one(
    tmp_path: Path, report: Path, export: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    shutil.copy("/bin/true", tmp_path / "a" / "nsys")
    real = install(tmp_path / "b", export)
    monkeypatch.setenv("PATH", f"{tmp_path}/a:{tmp_path}/b:/usr/bin:/bin")

    read_trace(report, ReadOptions())
    assert real.was_asked()

    monkeypatch.setenv("PATH", f"{tmp_path}/a:/usr/bin:/bin")
    assert refusal(report).message == f"{tmp_path}/a/nsys does not answer as nsys does."
