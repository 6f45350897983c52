"""The line on a terminal, under a clock that the test turns."""

from __future__ import annotations

import io

from nsysan.cli.progress_line import ProgressLine

ERASE = "\r\x1b[K"


class Clock:
    """Says what it is set to."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        """The time set."""
        return self.now_s


def test_what_takes_less_than_two_seconds_shows_nothing() -> None:
    clock, terminal = Clock(), io.StringIO()
    line = ProgressLine(terminal, 80, clock)

    line.begin("reading a.sqlite")
    clock.now_s += 1.9
    line.advance(1_000_000)
    line.end()

    assert terminal.getvalue() == ""


def test_it_says_what_how_much_how_fast_and_how_long() -> None:
    clock, terminal = Clock(), io.StringIO()
    line = ProgressLine(terminal, 80, clock)

    line.begin("reading KERNELS", 10_000_000)
    clock.now_s += 2
    line.advance(4_000_000)
    clock.now_s += 0.1
    line.advance(100_000)
    clock.now_s += 0.15
    line.begin("analysing: steps")
    line.end()

    assert terminal.getvalue().split(ERASE) == [
        "",
        "reading KERNELS, 4.0 M of 10.0 M rows, 2.0 M rows/s, 3 s left",
        "analysing: steps",
        "",
    ]


def test_a_line_is_no_wider_than_the_terminal_and_moves_no_cursor() -> None:
    clock, terminal = Clock(), io.StringIO()
    line = ProgressLine(terminal, 12, clock)

    clock.now_s += 2
    line.begin("reading \x1b[2J of a long name")

    assert terminal.getvalue().removeprefix(ERASE) == "reading \\x1b"[:11]
