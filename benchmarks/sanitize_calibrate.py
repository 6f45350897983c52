"""The tests of the compiled module of calibrations under AddressSanitizer, LeakSanitizer and UBSan (g++).

Module and fake libraries are compiled anew with the sanitizers in a copy of the project, where pytest then runs. Takes
about two minutes; after every change in csrc/calibrate/. Arguments are those of pytest in place of the tests.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
COMPILER = shutil.which("g++") or "g++"
FLAGS = "-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS -g1"
TESTS = ("tests/calibrate/test_native.py", "tests/calibrate/test_measurements.py")


def main() -> int:
    """The exit code of the tests."""
    with tempfile.TemporaryDirectory(prefix="nsysan-sanitize-") as name:
        folder = Path(name)
        for part in ("csrc", "nsysan", "reports", "tests", "setup.py", "pyproject.toml", "README.md"):
            source, target = ROOT / part, folder / part
            _ = shutil.copytree(source, target) if source.is_dir() else shutil.copy(source, target)
        for built in (folder / "nsysan").rglob("*.so"):
            built.unlink()
        environment = {**os.environ, "CFLAGS": FLAGS, "CXXFLAGS": FLAGS, "LDFLAGS": "-fsanitize=address,undefined"}
        environment["NSYSAN_REQUIRE_NATIVE"] = "1"
        build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(build, cwd=folder, env=environment, check=True)
        return run_tests(folder)


def run_tests(folder: Path) -> int:
    """The exit code of pytest in this copy; Python's own leaks are left out."""
    libraries = [
        subprocess.run(
            [COMPILER, f"-print-file-name={library}"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for library in ("libasan.so", "libubsan.so")
    ]
    suppressions = folder / "leaks.txt"
    suppressions.write_text("leak:libpython\nleak:python3\nleak:numpy\nleak:_multiarray\nleak:_PyObject\n")
    environment = {
        **os.environ,
        "LD_PRELOAD": " ".join(libraries),
        "PYTHONMALLOC": "malloc",
        "PYTHONPATH": str(folder),
        "ASAN_OPTIONS": "detect_leaks=1:allocator_may_return_null=1",
        "LSAN_OPTIONS": f"suppressions={suppressions}:print_suppressions=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "NSYSAN_REQUIRE": "native",
        "NSYSAN_FAKE_FLAGS": FLAGS,
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(sys.argv[1:] or TESTS)]
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
