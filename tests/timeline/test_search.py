"""Places among ascending values, held against ``np.searchsorted``."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.timeline.search import search

NUMBERS = st.lists(st.integers(-9, 9), max_size=30)


@pytest.mark.usefixtures("mode")
@given(NUMBERS.map(sorted), NUMBERS | NUMBERS.map(sorted), st.sampled_from(["left", "right"]))
def test_places_are_those_that_numpy_finds(among: list[int], values: list[int], side: Literal["left", "right"]) -> None:
    columns = np.array(among, np.int64), np.array(values, np.int64)

    assert search(*columns, side=side).tolist() == np.searchsorted(*columns, side=side).tolist()
