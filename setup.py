"""Which packages a wheel holds, and its compiled modules, which nsysan does without where nothing can compile them.

Packages are every room found in the tree, and the templates that lie outside it. Everything else stands in
pyproject.toml, which can either find packages or name them, but not do both.

``NSYSAN_REQUIRE_NATIVE=1`` makes the build fail where one cannot be compiled.
"""

from __future__ import annotations

import os
from pathlib import Path

from setuptools import Extension, find_packages, setup

IS_REQUIRED = os.environ.get("NSYSAN_REQUIRE_NATIVE") == "1"
SOURCES = Path("csrc")


def extensions() -> list[Extension]:
    """The compiled modules; none where pybind11, which only the build needs, is not there."""
    try:
        from pybind11.setup_helpers import ParallelCompile
    except ImportError:
        if IS_REQUIRED:
            raise
        return []
    ParallelCompile(default=0).install()  # files side by side, as many as there are cores
    return [
        extension("nsysan.ingest._columns", "columns", "-O3", "-D_FILE_OFFSET_BITS=64"),
        extension("nsysan.calibrate._native", "calibrate", "-O1"),
    ]


def extension(name: str, folder: str, *options: str) -> Extension:
    """A module from all sources in a folder."""
    from pybind11.setup_helpers import Pybind11Extension

    return Pybind11Extension(
        name,
        sorted(map(str, (SOURCES / folder).glob("*.cpp"))),
        depends=sorted(map(str, (SOURCES / folder).glob("*.hpp"))),
        cxx_std=17,
        extra_compile_args=list(options),
        optional=not IS_REQUIRED,
    )


setup(
    packages=[*find_packages(include=["nsysan", "nsysan.*"]), "nsysan_templates"],
    ext_modules=extensions(),
)
