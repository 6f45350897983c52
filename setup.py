"""Which packages a wheel holds, and its compiled modules, which nsysan does without where nothing can compile them.

Packages are every room found in the tree, and the templates that lie outside it. Everything else stands in
pyproject.toml, which can either find packages or name them, but not do both.

``NSYSAN_REQUIRE_NATIVE=1`` makes the build fail where one cannot be compiled. Where there is nvcc (``NSYSAN_NVCC``,
PATH or /usr/local/cuda), the kernels of a calibration are compiled too; else NVRTC does it when they are run.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

IS_REQUIRED = os.environ.get("NSYSAN_REQUIRE_NATIVE") == "1"
SOURCES = Path("csrc")
KERNELS = Path("nsysan/calibrate/kernels.cu")


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


class BuildModules(build_ext):
    """Compiles the modules, and beside them the kernels where there is nvcc."""

    def run(self) -> None:
        """Compile."""
        super().run()
        nvcc = find_nvcc()
        if nvcc is not None:
            compile_kernels(nvcc, Path(self.get_ext_fullpath("nsysan.calibrate._native")).parent)


def find_nvcc() -> str | None:
    """The path of nvcc; None where there is none, and where ``NSYSAN_NVCC`` is empty."""
    named = os.environ.get("NSYSAN_NVCC")
    if named is not None:
        return named or None
    return shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")


def compile_kernels(nvcc: str, folder: Path) -> None:
    """Write ``sm_90.cubin`` and the like into the folder, one for every architecture that this nvcc knows."""

    def compile_for(architecture: str) -> None:
        target = str(folder / f"{architecture}.cubin")
        call([nvcc, "-cubin", f"-arch={architecture}", "-o", target, str(KERNELS)])

    try:
        known = re.findall(r"^sm_\d+$", call([nvcc, "--list-gpu-code"]), re.MULTILINE)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_for, known))
    except (OSError, subprocess.CalledProcessError) as error:
        if IS_REQUIRED:
            raise
        told = "nvcc did not compile the kernels, which NVRTC will do when they are run: %s"
        logging.getLogger(__name__).warning(told, error)


def call(command: list[str]) -> str:
    """What a command of the one who builds prints."""
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout  # noqa: S603


setup(
    cmdclass={"build_ext": BuildModules},
    packages=[*find_packages(include=["nsysan", "nsysan.*"]), "nsysan_templates"],
    ext_modules=extensions(),
)
