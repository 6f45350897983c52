"""Plain loops that numba compiles where there is enough to do, and that run as they are where there is not.

Compiling takes seconds, and loading what was compiled before half a second: below a million rows plain Python is done
by then. Without numba (extra ``fast``) it does everything. Some loops have whole columns beside them, which are
quicker than plain Python: these are used below a number of rows, and without numba.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

Loop = TypeVar("Loop", bound=Callable[..., object])

FEWEST_ROWS = 1_000_000
_SWITCH = "NSYSAN_NUMBA"
"""The environment variable that is 0 where numba shall not be used."""


def is_worth_compiling(row_count: int, fewest_rows: int | None = None) -> bool:
    """Whether numba is there, and the rows are enough to pay for it.

    ``fewest_rows`` is how many that are where another way is quicker than plain Python.
    """
    return row_count >= (FEWEST_ROWS if fewest_rows is None else fewest_rows) and is_numba_there()


def is_loaded() -> bool:
    """Whether numba was loaded for something else, so that one more loop costs next to nothing."""
    return "numba" in sys.modules and is_numba_there()


@cache
def is_numba_there() -> bool:
    """Whether numba is installed and may be used; looked up once, for importing it takes a while."""
    if os.environ.get(_SWITCH) == "0":
        return False
    try:
        import numba  # noqa: F401 -- to see whether it is there
    except ImportError:
        return False
    return True


@cache
def compiled(loop: Loop) -> Loop:
    """The loop as machine code; kept for the next run where numba finds a folder that it may write to."""
    import numba

    try:
        machine_code: Any = numba.njit(cache=True)(loop)
    except RuntimeError:
        # no folder to keep it in
        machine_code = numba.njit(loop)
    return cast("Loop", machine_code)
