"""The line between two clocks: medians, drift, and what is too little or too much to be one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.attribution.collectives.clock_line import ClockLine, line_through

MS, S = 1_000_000, 1_000_000_000
TIMES = np.arange(100) * 6 * S


def test_a_line_takes_away_what_a_clock_is_ahead() -> None:
    # 40 ms ahead, and 20 us more each second: after 594 s it is 51.88 ms
    line = line_through(TIMES, 40 * MS + TIMES // 50_000)

    assert line.offset_ns == -40 * MS
    assert line.drift_frac == pytest.approx(-2e-5, rel=1e-9)
    assert line.moved(np.array([594 * S])).tolist() == [594 * S - 51_880_000]
    assert line.shift_at(594 * S) == -51_880_000


def test_a_third_of_the_ends_may_be_wild() -> None:
    ahead = TIMES // 50_000
    ahead[::4] += 900 * MS

    assert line_through(TIMES, ahead).drift_frac == pytest.approx(-2e-5, rel=0.01)


@pytest.mark.parametrize(
    ("times", "ahead"),
    [
        (TIMES[:15], 7 * MS + TIMES[:15] // 50_000),  # too few
        (TIMES, 7 * MS + TIMES // 100_000_000),  # 6 us over all: no more than ends of one clock differ by
        (TIMES, 7 * MS + TIMES // 1_000),  # 1 ms a second is no quartz
        (np.full(100, 5), np.full(100, 7 * MS)),  # all at once
    ],
)
def test_what_is_no_drift(times: np.ndarray, ahead: np.ndarray) -> None:
    line = line_through(times, ahead)

    assert (line.offset_ns, line.drift_frac) == (-round(float(np.median(ahead))), 0.0)


@settings(max_examples=50)
@given(
    st.integers(-10 * S, 10 * S),
    st.floats(-1e-4, 1e-4),
    st.integers(-10 * S, 10 * S),
    st.floats(-1e-4, 1e-4),
    st.integers(0, 600 * S),
)
def test_lines_follow_each_other_and_go_back(offset: int, drift: float, second: int, more: float, time: int) -> None:
    line, following = ClockLine(offset, drift), ClockLine(second, more)
    once = int(line.moved(np.array([time]))[0])

    assert line.inverse().moved(np.array([once])).tolist() == [pytest.approx(time, abs=2)]
    assert line.before(once) == pytest.approx(time, abs=2)
    twice = following.moved(np.array([once]))
    assert line.then(following).moved(np.array([time])).tolist() == [pytest.approx(int(twice[0]), abs=2)]
