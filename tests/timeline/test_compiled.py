"""When loops become machine code, and what stands in the way."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from nsysan.timeline.compiled import FEWEST_ROWS, compiled, is_numba_there, is_worth_compiling

numba = pytest.importorskip("numba", reason="numba is not installed")


def doubled(number: int) -> int:
    return 2 * number


def test_small_inputs_are_not_worth_it() -> None:
    assert [is_worth_compiling(count) for count in (0, FEWEST_ROWS - 1, FEWEST_ROWS)] == [False, False, True]


def test_a_loop_is_compiled_once() -> None:
    assert (compiled(doubled)(21), compiled(doubled) is compiled(doubled)) == (42, True)


def test_where_no_folder_can_be_written_the_code_is_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """As numba refuses to keep code where neither the package's folder nor the home can be written."""

    def refusing(loop: Any = None, *, cache: bool = False) -> Any:
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return loop

    monkeypatch.setattr(numba, "njit", refusing)

    def tripled(number: int) -> int:
        return 3 * number

    assert compiled(tripled)(14) == 42


def test_numba_can_be_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NSYSAN_NUMBA", "0")
    is_numba_there.cache_clear()
    try:
        assert not is_worth_compiling(FEWEST_ROWS)
    finally:
        monkeypatch.undo()
        is_numba_there.cache_clear()


def test_starting_up_imports_neither_numba_nor_anything_else_that_is_heavy() -> None:
    program = "import sys, nsysan.cli.main; print(sorted({'numba', 'pandas', 'pyarrow', 'numpy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout == "[]\n"
