"""What a wheel holds: built from a copy of the checkout, without a network, and from the source distribution."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

import pytest

from tests.project.repository import ROOT, tracked_files


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project's own files: no stale build folder, no caches."""
    folder = tmp_path_factory.mktemp("checkout")
    for path in tracked_files():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    return folder


@pytest.fixture(scope="module")
def wheel_files(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    return _files_of(_build_wheel(checkout, tmp_path_factory.mktemp("wheel")))


def test_the_wheel_holds_every_module_and_data_file_of_the_package(wheel_files: set[str]) -> None:
    ours = {path for path in tracked_files() if path.startswith("nsysan/")}

    assert {path for path in wheel_files if path.startswith("nsysan/")} == ours
    assert "nsysan/py.typed" in ours


def test_the_wheel_holds_the_templates_as_a_package_of_their_own(wheel_files: set[str]) -> None:
    templates = {
        path.replace("reports/templates", "nsysan_templates")
        for path in tracked_files()
        if path.startswith("reports/templates/")
    }

    assert {path for path in wheel_files if path.startswith("nsysan_templates/")} == templates
    assert "nsysan_templates/__init__.py" in templates


def test_the_wheel_holds_nothing_else(wheel_files: set[str]) -> None:
    top_level = {PurePosixPath(path).parts[0].partition("-")[0] for path in wheel_files}

    assert top_level == {"nsysan", "nsysan_templates"}


def test_the_source_distribution_builds_the_same_wheel(checkout: Path, wheel_files: set[str], tmp_path: Path) -> None:
    build_sdist = f"from setuptools import build_meta; build_meta.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build_sdist], cwd=checkout, check=True, capture_output=True)
    (sdist,) = tmp_path.glob("*.tar.gz")

    assert _files_of(_build_wheel(sdist, tmp_path / "wheel")) == wheel_files


def test_every_room_is_a_package() -> None:
    rooms = {str(PurePosixPath(path).parent) for path in tracked_files() if path.startswith("nsysan/")}
    with_modules = {room for room in rooms if any((ROOT / room).glob("*.py"))}

    assert [room for room in sorted(with_modules) if not (ROOT / room / "__init__.py").is_file()] == []


def _build_wheel(source: Path, folder: Path) -> Path:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    subprocess.run([*pip, "--wheel-dir", str(folder), str(source)], check=True, capture_output=True, text=True)
    (wheel,) = folder.glob("nsysan-*.whl")
    return wheel


def _files_of(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())
