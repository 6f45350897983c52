"""Hostile text made safe to show."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.model.text import DISPLAY_LIMIT, display_text, first_names, text_hash, visible_text


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("void f<int>(float*)", "void f<int>(float*)"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\u2028b\nc", "a\\u2028b\\x0ac"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\udcff", "\\udcff"),
        ("\U000e0041", "\\U000e0041"),
        ("\ufffe\U0010ffff", "\\ufffe\\U0010ffff"),
        ("größer µs", "größer µs"),
    ],
)
def test_what_cannot_be_seen_is_spelt_out(raw: str, shown: str) -> None:
    assert display_text(raw) == shown


@given(st.text(st.characters(codec=None), max_size=DISPLAY_LIMIT * 2))
def test_nothing_shown_can_control_a_terminal_or_break_encoding(raw: str) -> None:
    shown = display_text(raw)

    assert not {unicodedata.category(character) for character in shown} & {"Cc", "Cf", "Cs", "Zl", "Zp"}
    shown.encode("utf-8")


def test_a_cut_name_ends_in_a_hash_of_all_of_it() -> None:
    raw = "x" * (DISPLAY_LIMIT + 1)

    assert display_text(raw) == f"{'x' * DISPLAY_LIMIT}… #{text_hash(raw)[:8]}"
    assert visible_text(raw) == raw


def test_of_many_names_the_first_twelve_are_listed() -> None:
    names = list("abcdefghijklm")

    assert first_names(names[:2]) == "a, b"
    assert first_names(names[:12]) == "a, b, c, d, e, f, g, h, i, j, k, l"
    assert first_names(names) == "a, b, c, d, e, f, g, h, i, j, k, l and 1 more"
