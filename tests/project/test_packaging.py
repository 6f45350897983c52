"""What a wheel holds: built from a copy of the checkout, without a network, and from the source distribution.

The compiled module is in it where there is a compiler; without one everything else is.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import zipfile
from email import message_from_bytes
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from sysconfig import get_config_var

import pytest

from tests.project.repository import ROOT, tracked_files

COMPILER = shutil.which("c++")
NO_NVCC = {"NSYSAN_NVCC": ""}
NO_COMPILER = {"CC": "false", "CXX": "false", "NSYSAN_REQUIRE_NATIVE": "0", **NO_NVCC}


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the project's own files, and a template that was compiled there: no stale build folder."""
    folder = tmp_path_factory.mktemp("checkout")
    for path in tracked_files():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / path, target)
    compiled = folder / "reports/templates/__pycache__/page.jinja-3.1.6.cache"
    compiled.parent.mkdir()
    compiled.touch()
    return folder


@pytest.fixture(scope="module")
def wheel(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built where nothing can compile."""
    return _build_wheel(checkout, tmp_path_factory.mktemp("wheel"), **NO_COMPILER)


@pytest.fixture(scope="module")
def wheel_files(wheel: Path) -> set[str]:
    return _files_of(wheel)


def test_the_wheel_holds_every_module_and_data_file_of_the_package(wheel_files: set[str]) -> None:
    ours = {path for path in tracked_files() if path.startswith("nsysan/")}

    assert {path for path in wheel_files if path.startswith("nsysan/")} == ours
    assert {"nsysan/py.typed", "nsysan/ingest/_columns.pyi", "nsysan/calibrate/kernels.cu"} <= ours


def test_where_the_compiled_module_is_required_there_is_no_wheel_without(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        _build_wheel(checkout, tmp_path, **NO_COMPILER | {"NSYSAN_REQUIRE_NATIVE": "1"})


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


def test_the_wheel_requires_what_the_package_imports_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (metadata,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        required = message_from_bytes(archive.read(metadata)).get_all("Requires-Dist", [])
    imported = {
        name for path in tracked_files() if re.fullmatch(r"nsysan/.*\.py", path) for name in _imports(ROOT / path)
    }
    foreign = imported - sys.stdlib_module_names - {"nsysan"}

    # pandas is imported in to_pandas alone, for whoever has it; pytest and nsys' recipes load what imports them; tomli
    # is imported by msgspec, where Python reads no TOML
    names = {re.split(r"[^\w-]", requirement)[0].replace("-", "_") for requirement in required}
    assert foreign - {"nsys_recipe", "pandas", "pytest"} == names - {"tomli"}


@pytest.mark.native
@pytest.mark.skipif(not COMPILER or not find_spec("pybind11"), reason="there is no C++ compiler, or no pybind11")
def test_the_source_distribution_builds_the_same_wheel_and_the_compiled_module(
    checkout: Path, wheel_files: set[str], tmp_path: Path
) -> None:
    build_sdist = f"from setuptools import build_meta; build_meta.build_sdist({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build_sdist], cwd=checkout, check=True)
    (sdist,) = tmp_path.glob("*.tar.gz")

    files = _files_of(_build_wheel(sdist, tmp_path / "wheel", NSYSAN_REQUIRE_NATIVE="1", **NO_NVCC))
    compiled = ("nsysan/ingest/_columns", "nsysan/calibrate/_native")
    assert files == wheel_files | {f"{name}{get_config_var('EXT_SUFFIX')}" for name in compiled}


def test_every_room_is_a_package() -> None:
    rooms = {str(PurePosixPath(path).parent) for path in tracked_files() if path.startswith("nsysan/")}
    with_modules = {room for room in rooms if any((ROOT / room).glob("*.py"))}

    assert [room for room in sorted(with_modules) if not (ROOT / room / "__init__.py").is_file()] == []


def _build_wheel(source: Path, folder: Path, **environment: str) -> Path:
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    command = [*pip, "--wheel-dir", str(folder), str(source)]
    subprocess.run(command, check=True, env={**os.environ, **environment})
    (wheel,) = folder.glob("nsysan-*.whl")
    return wheel


def _imports(path: Path) -> set[str]:
    """The top-level packages that a module imports, wherever in it."""
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    plain = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    named = {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    return {name.partition(".")[0] for name in plain | named}


def _files_of(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())
