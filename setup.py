"""Which packages a wheel holds, and its compiled module, which nsysan does without where nothing can compile it.

Packages are every room found in the tree, and the templates that lie outside it. Everything else stands in
pyproject.toml, which can either find packages or name them, but not do both.

``NSYSAN_REQUIRE_NATIVE=1`` makes the build fail where the module cannot be compiled.
"""

from __future__ import annotations

import os
from pathlib import Path

from setuptools import Extension, find_packages, setup

IS_REQUIRED = os.environ.get("NSYSAN_REQUIRE_NATIVE") == "1"
COLUMNS = Path("csrc/columns")


def extensions() -> list[Extension]:
    """The module that reads columns; none where pybind11, which only the build needs, is not there."""
    try:
        from pybind11.setup_helpers import Pybind11Extension
    except ImportError:
        if IS_REQUIRED:
            raise
        return []
    columns = Pybind11Extension(
        "nsysan.ingest._columns",
        sorted(map(str, COLUMNS.glob("*.cpp"))),
        depends=sorted(map(str, COLUMNS.glob("*.hpp"))),
        cxx_std=17,
        define_macros=[("_FILE_OFFSET_BITS", "64")],
        extra_compile_args=["-O3"],
        optional=not IS_REQUIRED,
    )
    return [columns]


setup(
    packages=[*find_packages(include=["nsysan", "nsysan.*"]), "nsysan_templates"],
    ext_modules=extensions(),
)
