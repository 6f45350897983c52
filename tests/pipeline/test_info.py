"""What leaves nsysan about a report, and what is found of this installation."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from typing import TYPE_CHECKING

import pytest
from msgspec.structs import replace

from nsysan import __version__
from nsysan.ingest import readers
from nsysan.ingest.reader import Reader
from nsysan.model.contents import ExtraAtHand, Installation, NsysAtHand, ReaderAtHand
from nsysan.model.registry import discover
from nsysan.model.trace import CaptureIdentity
from nsysan.pipeline import info
from nsysan.pipeline.info import InfoOptions, extras_of, inspect_installation, inspect_report
from nsysan.synth.export import Export
from tests.ingest.nsys_stand_in import StandIn

if TYPE_CHECKING:
    from pathlib import Path


def test_names_of_people_machines_and_paths_are_kept_only_when_asked_for(tmp_path: Path) -> None:
    path = Export().host("node1").kernel(0, 9, "k").write(tmp_path / "export.sqlite")

    without, kept = inspect_report(path, InfoOptions()), inspect_report(path, InfoOptions(keep_identity=True))

    assert without.processes is not None
    assert kept.processes is not None
    assert (without.hosts, without.identity) == (None, None)
    assert [process.name for process in without.processes] == [None]
    assert (kept.hosts, kept.identity) == (("node1",), CaptureIdentity("node1", None, None, str(path)))
    assert [process.name for process in kept.processes] == ["python3"]
    nameless = tuple(replace(process, name=None) for process in kept.processes)
    assert replace(kept, hosts=None, identity=None, processes=nameless) == without


FAST = ExtraAtHand("fast", {"numba": "0.61"})


def test_extras_have_the_versions_of_their_packages() -> None:
    requirements = [
        "click>=8.1",
        'no-such-package>=1; extra == "fast"',
        'numpy>=1; extra == "history"',
        'tomli>=2; python_version < "3.11" and extra == "history"',
    ]

    assert extras_of(requirements) == (
        ExtraAtHand("fast", {"no-such-package": None}),
        ExtraAtHand("history", {"numpy": metadata.version("numpy")}),
    )


def test_what_is_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older, newer = tmp_path / "older", tmp_path / "newer"
    for folder, version in ((older, "2023.4.4.54"), (newer, "2026.2.1.210")):
        folder.mkdir()
        StandIn(folder, "exit 1", version=version)
    (newer / "nvidia-smi").write_text("#!/bin/sh\necho started > started\n")
    (newer / "nvidia-smi").chmod(0o755)
    monkeypatch.delenv("NSYSAN_NSYS", raising=False)
    monkeypatch.setenv("PATH", f"{older}{os.pathsep}{newer}")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("nsysan.ingest.nsys.installation.INSTALLED_AT", ())
    monkeypatch.setattr(info, "find_spec", lambda _name: None)
    monkeypatch.setattr(info, "extras_of", lambda _requirements: (FAST,))
    monkeypatch.setattr(info, "is_module_there", lambda: True)

    assert inspect_installation() == Installation(
        nsysan_version=__version__,
        python_version=platform.python_version(),
        platform=platform.platform(),
        core_count=os.cpu_count() or 1,
        readers=tuple(ReaderAtHand(reader.id, reader.needs_modules) for reader in discover(readers, "READER", Reader)),
        has_column_module=True,
        extras=(FAST,),
        nsys=(
            NsysAtHand(str(newer / "nsys"), "2026.2.1.210", None),
            NsysAtHand(str(older / "nsys"), "2023.4.4.54", None),
        ),
        has_nvidia_smi=True,
    )
    # nvidia-smi was looked for, not started
    assert not (tmp_path / "started").exists()


def test_only_folders_need_more_than_nsysan_itself() -> None:
    needs = {reader.id: reader.needs_modules for reader in discover(readers, "READER", Reader) if reader.needs_modules}

    assert needs == {"nsys_folder": ("pyarrow",)}


def test_nothing_at_hand_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("NSYSAN_NSYS", raising=False)
    monkeypatch.setattr("nsysan.ingest.nsys.installation.INSTALLED_AT", ())

    installation = inspect_installation()

    assert (installation.nsys, installation.has_nvidia_smi) == ((), False)


def test_the_compiled_module_is_not_there_where_it_shall_not_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSYSAN_NATIVE", "0")

    assert not inspect_installation().has_column_module


def test_an_nsys_that_cannot_be_used_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = str(tmp_path / "nsys")
    monkeypatch.setenv("NSYSAN_NSYS", missing)

    (nsys,) = inspect_installation().nsys

    assert nsys == NsysAtHand(missing, None, f"{missing} cannot be run: No such file or directory.")
