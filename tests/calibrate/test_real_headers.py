"""Against NVIDIA's own: prototypes and their headers, kernels and their compilers. Skips where these are not at hand.

Headers are looked for in the folders of ``NSYSAN_CUDA_HEADERS``, then in wheels and in /usr/local/cuda: each release of
CUDA by itself. .ci/run brings most.
"""

from __future__ import annotations

import ctypes
import os
import re
import runpy
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from nsysan.calibrate.bench import KERNELS
from nsysan.calibrate.libraries import candidates, load_companions, native, nvrtc_for
from nsysan.hardware.data_sheet_table import data_sheets
from tests.calibrate.fakes import COMPILER

if TYPE_CHECKING:
    from nsysan.calibrate._native import Nvrtc

ROOT = Path(__file__).parents[2]
CHECK = Path(__file__).parent / "check_abi.cpp"
HEADERS = {
    "DRIVER": "cuda.h",
    "CUBLASLT": "cublasLt.h",
    "NCCL": "nccl.h",
    "NVRTC": "nvrtc.h",
    "NVML": "nvml.h",
}
OF_CUDA_12 = ("cublas", "cuda_cccl", "cuda_nvcc", "cuda_nvrtc", "nvml_dev")
"""The wheels of that release, besides the one with cuda.h; NCCL's serves both."""


def include_folders(release: str) -> list[Path]:
    """Where headers of a release of CUDA are: its own, and those that serve any."""
    named = [Path(text) for text in os.environ.get("NSYSAN_CUDA_HEADERS", "").split(os.pathsep) if text]
    wheels = [folder for entry in sys.path if entry for folder in sorted(Path(entry).glob("nvidia/*/include"))]
    here = [folder for folder in (*named, *wheels, Path("/usr/local/cuda/include")) if folder.is_dir()]
    return [folder for folder in here if release_of(folder) in (release, None)]


def release_of(folder: Path) -> str | None:
    """The release that a folder with cuda.h is of, as its nvrtc.h, cublasLt.h and the like are; else None."""
    header = folder / "cuda.h"
    if header.is_file():
        found = re.search(r"#define CUDA_VERSION (\d+)", header.read_text(errors="replace"))
        return found[1][:2] if found else None
    return "13" if "cu13" in folder.parts else "12" if folder.parent.name in OF_CUDA_12 else None


def complaints(library: str, release: str, check: Path = CHECK) -> str:
    """What the compiler has against the prototypes of a library; skips where it or the headers are not here."""
    folders = include_folders(release)
    if COMPILER is None or not any((folder / HEADERS[library]).is_file() for folder in folders):
        pytest.skip(f"g++ or {HEADERS[library]} of CUDA {release} is not here")
    options = [f"-I{folder}" for folder in folders]
    command = [COMPILER, "-std=c++17", "-fsyntax-only", f"-DNSYSAN_CHECK_{library}", *options, str(check)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if "No such file" in done.stderr:
        pytest.skip(f"what {HEADERS[library]} of CUDA {release} includes is not here")
    return done.stderr if done.returncode else ""


@pytest.mark.parametrize("release", ["12", "13"])
@pytest.mark.parametrize(
    "library",
    # of cuBLASLt only a wheel of 580 MB has the header
    [library if library == "CUBLASLT" else pytest.param(library, marks=pytest.mark.cuda) for library in HEADERS],
)
def test_prototypes_are_those_of_the_headers(library: str, release: str) -> None:
    assert complaints(library, release) == ""


@pytest.mark.cuda
def test_a_wrong_prototype_is_seen(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (tmp_path / "csrc" / "calibrate").mkdir(parents=True)
    right = (ROOT / "csrc" / "calibrate" / "abi.hpp").read_text()
    wrong = right.replace(
        "X(cuMemGetInfo_v2, int(std::size_t*, std::size_t*))", "X(cuMemGetInfo_v2, int(std::size_t*))"
    )
    assert wrong != right
    (tmp_path / "csrc" / "calibrate" / "abi.hpp").write_text(wrong)
    (folder / "check.cpp").write_text(CHECK.read_text())
    assert "cuMemGetInfo" in complaints("DRIVER", "12", folder / "check.cpp")


@pytest.fixture(params=["12", "13"])
def nvrtc_path(request: pytest.FixtureRequest) -> str:
    """NVRTC of a release, beside the headers or where a calibration finds it; skips where it is not here."""
    if find_spec("nsysan.calibrate._native") is None:
        pytest.skip("the compiled module is not here")
    release: str = request.param
    name = f"libnvrtc.so.{release}"
    beside = (str(folder.parent / "lib" / name) for folder in include_folders(release))
    found = (path for path in (*beside, *candidates(nvrtc_for(int(release) * 1000))) if Path(path).is_file())
    path = next((path for path in found if Path(path).name.startswith(name)), None)
    if path is None:
        pytest.skip(f"{name} is not here: pip install nvidia-cuda-nvrtc-cu12, or name it with NSYSAN_LIBNVRTC")
    load_companions(path, nvrtc_for(13000))
    return path


def known_to(path: str) -> set[int]:
    """The architectures, 90 for sm_90, that an NVRTC says it compiles for."""
    library = ctypes.CDLL(path)
    count = ctypes.c_int()
    assert library.nvrtcGetNumSupportedArchs(ctypes.byref(count)) == 0
    known = (ctypes.c_int * count.value)()
    assert library.nvrtcGetSupportedArchs(known) == 0
    return set(known)


@pytest.mark.cuda
def test_kernels_compile_for_every_architecture(nvrtc_path: str) -> None:
    nvrtc: Nvrtc = native().Nvrtc(nvrtc_path)
    source = KERNELS.joinpath("kernels.cu").read_text("utf-8")
    known = known_to(nvrtc_path)
    # since release 13 there is no Volta
    first = 75 if int(nvrtc.version.partition(".")[0]) >= 13 else 70
    sold = {10 * major + minor for major, minor in (sheet.capability for sheet in data_sheets())}

    assert {architecture for architecture in sold if architecture >= first} <= known
    for architecture in sorted(architecture for architecture in known if architecture >= first):
        assert_holds_kernels(nvrtc.compile(source, f"sm_{architecture}"))


def assert_holds_kernels(code: bytes) -> None:
    assert code.startswith(b"\x7fELF")
    assert all(name in code for name in (b"empty", b"stream_copy", b"stream_triad"))


@pytest.mark.cuda
def test_what_does_not_compile_says_where(nvrtc_path: str) -> None:
    with pytest.raises(native().CallFailedError, match=r"kernels\.cu"):
        native().Nvrtc(nvrtc_path).compile("nonsense", "sm_90")


def test_nvcc_compiles_them_too(tmp_path: Path) -> None:
    build = built_by()
    nvcc = build["find_nvcc"]()
    if nvcc is None:
        pytest.skip("nvcc is not here: NSYSAN_NVCC names it")

    build["compile_kernels"](nvcc, tmp_path)

    names = {path.name for path in tmp_path.iterdir()}
    assert {"sm_80.cubin", "sm_90.cubin", "sm_100.cubin"} <= names
    for path in tmp_path.iterdir():
        assert_holds_kernels(path.read_bytes())


BROKEN = """#!/bin/sh
[ "$1" = --list-gpu-code ] && echo sm_90 && exit
exit 1
"""


def test_a_broken_nvcc_ends_only_a_build_that_must_have_all(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    nvcc = tmp_path / "nvcc"
    nvcc.write_text(BROKEN)
    nvcc.chmod(0o755)

    built_by("0")["compile_kernels"](str(nvcc), tmp_path)
    with pytest.raises(subprocess.CalledProcessError):
        built_by("1")["compile_kernels"](str(nvcc), tmp_path)

    (line,) = caplog.messages
    assert line.startswith("nvcc did not compile the kernels, which NVRTC will do when they are run:")


def built_by(required: str = "1") -> dict[str, Any]:
    """What setup.py defines, when nothing is set up."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NSYSAN_REQUIRE_NATIVE", required)
        patch.setattr("setuptools.setup", lambda **_: None)
        return runpy.run_path(str(ROOT / "setup.py"))
