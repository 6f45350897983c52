"""NVIDIA's libraries, played by one of ours: built once, with a clock that only work moves on."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

SOURCES = Path(__file__).parent / "fake"
VARIABLES = ("NSYSAN_LIBCUDA", "NSYSAN_LIBCUBLASLT", "NSYSAN_LIBNCCL", "NSYSAN_LIBNVRTC", "NSYSAN_LIBNVML")
COMPILER = shutil.which("g++")
FLAGS_VARIABLE = "NSYSAN_FAKE_FLAGS"


class Fake:
    """The libraries as a test sees them."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._library = ctypes.CDLL(self.path)
        for name in ("fake_alive", "fake_log"):
            getattr(self._library, name).restype = ctypes.c_char_p

    def reset(self) -> None:
        """Forget everything."""
        self._library.fake_reset()

    def program(self, *times_ns: float) -> None:
        """Let pieces of work take these times, in turn."""
        self._library.fake_program((ctypes.c_double * len(times_ns))(*times_ns), len(times_ns))

    def set(self, **values: float) -> None:
        """Set what is to happen, by the names in ``fake_set``."""
        for name, value in values.items():
            self._library.fake_set(name.encode(), ctypes.c_double(value))

    def fail_in(self, call: str) -> None:
        """Let every call of this name fail."""
        self._library.fake_fail_in(call.encode())

    @property
    def call_count(self) -> int:
        """How many calls that can fail there were."""
        count: int = self._library.fake_call_count()
        return count

    @property
    def alive(self) -> list[str]:
        """What was handed out and not given back."""
        return self._lines(self._library.fake_alive())

    @property
    def log(self) -> list[str]:
        """Every call."""
        return self._lines(self._library.fake_log())

    @property
    def faults(self) -> list[str]:
        """Uses of what is not there."""
        return [line for line in self.log if line.startswith("FAULT")]

    @staticmethod
    def _lines(text: bytes) -> list[str]:
        return text.decode().splitlines()


def build(folder: Path) -> Path:
    """The library, compiled; what is preloaded for tests under a sanitizer is not for the compiler."""
    assert COMPILER is not None
    target = folder / "libfake.so"
    sources = [str(path) for path in sorted(SOURCES.glob("*.cpp"))]
    flags = os.environ.get(FLAGS_VARIABLE, "").split()
    command = [COMPILER, "-std=c++17", "-O1", "-fPIC", "-shared", *flags, "-o", str(target), *sources]
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    subprocess.run(command, check=True, timeout=300, env=environment)
    return target
