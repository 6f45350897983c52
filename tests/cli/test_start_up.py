"""Start-up is a feature: naming the commands loads none of what they work with."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ("numpy", "jinja2", "rich", "sqlite3", "pandas", "numba", "starlette", "uvicorn")


@pytest.mark.parametrize(
    "arguments",
    [["--version"], ["--help"], ["analyze", "--help"], ["info", "--help"], ["record-help"], ["serve", "--help"]],
)
def test_nothing_heavy_is_loaded(arguments: list[str]) -> None:
    program = (
        "import sys; from nsysan.cli.main import main; code = main(sys.argv[1:]); "
        f"print('loaded:', *(name for name in {HEAVY!r} if name in sys.modules)); sys.exit(code)"
    )

    finished = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)

    assert finished.stdout.splitlines()[-1] == "loaded:"
