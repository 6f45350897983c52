"""Where NVIDIA's libraries are, and the compiled module that calls them.

A library that the process has loaded already is taken, for a second copy would be another library; then the one that a
variable names, those of PyTorch's wheels, conda's, and last whatever the system's loader finds.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from nsysan.model.errors import MissingToolError
from nsysan.model.text import display_text

AnyLibrary = TypeVar("AnyLibrary")

_FIRST_DRIVER_OF_CUDA = {13: 13000, 12: 12000, 11: 11000}
"""The least version that a driver tells with which libraries of a release of CUDA work."""
_OF_THE_SYSTEM = ("/usr/", "/lib/", "/lib64/")
_IN_PACKAGE = re.compile(r".*/((?:site|dist)-packages/.*)", re.DOTALL)


class Wanted(msgspec.Struct, frozen=True):
    """A library: what it is called, the variable that names it, and its files, the best first."""

    name: str
    variable: str
    sonames: tuple[str, ...]
    brought_by: str
    companions: str = ""
    """What of its folder (a pattern) it opens by name: the wheels of CUDA 13 do not say where to look for it."""


DRIVER = Wanted("the NVIDIA driver", "NSYSAN_LIBCUDA", ("libcuda.so.1",), "an NVIDIA GPU and its driver")
NVML = Wanted("NVML", "NSYSAN_LIBNVML", ("libnvidia-ml.so.1",), "the NVIDIA driver")
NCCL = Wanted("NCCL", "NSYSAN_LIBNCCL", ("libnccl.so.2",), "PyTorch's CUDA wheels, or pip install nvidia-nccl-cu12")
_CUBLASLT = "libcublasLt.so.{}"
_NVRTC = {13: "libnvrtc.so.13", 12: "libnvrtc.so.12", 11: "libnvrtc.so.11.2"}


def cublaslt_for(driver_version: int) -> Wanted:
    """CuBLASLt of a release that this driver (13000 for CUDA 13.0) can run, the newest first."""
    sonames = tuple(_CUBLASLT.format(major) for major in _majors(driver_version))
    return Wanted("cuBLASLt", "NSYSAN_LIBCUBLASLT", sonames, "PyTorch's CUDA wheels, or pip install nvidia-cublas-cu12")


def nvrtc_for(driver_version: int) -> Wanted:
    """NVRTC of a release whose code this driver can run, the newest first."""
    sonames = tuple(_NVRTC[major] for major in _majors(driver_version))
    brought_by = "PyTorch's CUDA wheels, or pip install nvidia-cuda-nvrtc-cu12"
    return Wanted("NVRTC", "NSYSAN_LIBNVRTC", sonames, brought_by, companions="libnvrtc-builtins.so.*")


def native() -> Any:
    """The compiled module. Raises MissingToolError where it was not built."""
    try:
        from nsysan.calibrate import _native as module
    except ImportError as error:
        raise MissingToolError(
            "Calibration needs nsysan's compiled module, which this installation lacks.",
            "Install a C++17 compiler and nsysan once more; analysing traces needs neither.",
        ) from error
    return module


def open_library(kind: Callable[[str], AnyLibrary], wanted: Wanted) -> tuple[AnyLibrary, str]:
    """The library and the path it was opened by. Raises MissingToolError where none of its files can be opened."""
    tried: list[str] = []
    for path in candidates(wanted):
        library = _opened(kind, path, wanted, tried)
        if library is not None:
            return library, path
    raise MissingToolError(
        f"Calibration needs {wanted.name} ({wanted.sonames[0]}), which is not here.",
        f"It comes with {wanted.brought_by}; {wanted.variable} names another place. Tried: {'; '.join(tried)}",
    )


def load_companions(path: str, wanted: Wanted) -> None:
    """Load what the library will ask the loader for by name alone. Raises OSError where that cannot be loaded."""
    place = Path(path)
    if wanted.companions and place.is_absolute():
        for companion in sorted(place.parent.glob(wanted.companions)):
            ctypes.CDLL(str(companion))


def shown_path(path: str) -> str:
    """Where a library is from, without the folders that may name who installed it."""
    if path.startswith(_OF_THE_SYSTEM) and ".." not in path:
        return display_text(path)
    in_package = _IN_PACKAGE.fullmatch(path)
    return display_text(in_package[1] if in_package else Path(path).name)


def _opened(kind: Callable[[str], AnyLibrary], path: str, wanted: Wanted, tried: list[str]) -> AnyLibrary | None:
    """The library; None where this file cannot be opened, and ``tried`` then says why."""
    try:
        load_companions(path, wanted)
        return kind(path)
    except (OSError, native().MissingLibraryError) as error:
        tried.append(f"{path}: {error}")
        return None


def candidates(wanted: Wanted) -> Iterator[str]:
    """Paths to try, each once."""
    named = os.environ.get(wanted.variable)
    if named:
        yield named
        return
    seen: set[str] = set()
    for path in (*_loaded(wanted.sonames), *_in_folders(wanted.sonames), *wanted.sonames):
        if path not in seen:
            seen.add(path)
            yield path


def _majors(driver_version: int) -> Sequence[int]:
    known = [major for major, least in _FIRST_DRIVER_OF_CUDA.items() if driver_version >= least]
    return known or [min(_FIRST_DRIVER_OF_CUDA)]


def _loaded(sonames: Sequence[str]) -> Iterator[str]:
    """The paths of what the process has loaded already."""
    try:
        maps = Path("/proc/self/maps").read_text(errors="replace")
    except OSError:
        return
    for line in maps.splitlines():
        path = line.partition("/")[1] + line.partition("/")[2]
        if any(re.search(rf"/{re.escape(soname)}(?:\.|$)", path) for soname in sonames):
            yield path


def _in_folders(sonames: Sequence[str]) -> Iterator[str]:
    for soname in sonames:
        yield from (str(folder / soname) for folder in _folders() if (folder / soname).is_file())


@lru_cache(maxsize=1)
def _folders() -> tuple[Path, ...]:
    """Where wheels and conda put libraries."""
    wheels = (folder for entry in sys.path if entry for folder in sorted(Path(entry).glob("nvidia/*/lib")))
    conda = os.environ.get("CONDA_PREFIX")
    return (*wheels, *([Path(conda) / "lib"] if conda else []))
