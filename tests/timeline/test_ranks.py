"""Values at ranks are those of a sorted list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.timeline import ranks as module
from nsysan.timeline.ranks import at_ranks

if TYPE_CHECKING:
    from collections.abc import Iterator

DURATIONS = st.integers(0, 9) | st.integers(0, 1 << 20) | st.integers(0, (1 << 31) - 1)


@pytest.fixture(scope="module", params=["columns", "loops", "machine code"], autouse=True)
def _way(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.param == "machine code":
        pytest.importorskip("numba", reason="numba is not installed")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "_MANY", 0)
        patched.setattr(module, "is_loaded", lambda: request.param != "columns")
        if request.param == "loops":
            patched.setattr(module, "compiled", lambda loop: loop)
        yield


@settings(deadline=None)
@given(st.lists(DURATIONS, min_size=1, max_size=50), st.sampled_from([np.int32, np.int64]), st.data())
def test_they_are_those_of_a_sorted_list(values: list[int], kind: type[np.int64], data: st.DataObject) -> None:
    ranks = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=3))

    assert at_ranks(np.array(values, kind), ranks) == [sorted(values)[rank] for rank in ranks]
