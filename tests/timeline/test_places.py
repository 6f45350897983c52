"""Places of ordered moments among ordered times against a look at all of them for each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.timeline.places import places_in

TIMES = st.lists(st.integers(-3, 20), max_size=12).map(sorted)


@pytest.mark.usefixtures("mode")
@given(TIMES, TIMES)
def test_a_place_is_how_many_times_lie_before(ordered: list[int], moments: list[int]) -> None:
    ordered_ns, moments_ns = np.array(ordered, np.int64), np.array(moments, np.int64)

    assert places_in(ordered_ns, moments_ns).tolist() == [sum(time < moment for time in ordered) for moment in moments]
    assert places_in(ordered_ns, moments_ns, after_equal=True).tolist() == [
        sum(time <= moment for time in ordered) for moment in moments
    ]
