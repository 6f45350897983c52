"""Options of commands in the text of a page."""

from __future__ import annotations

import pytest

from nsysan.report.flags import prose


@pytest.mark.parametrize(
    ("text", "markup"),
    [
        ("Needs the model: give --model.", 'Needs the model: give <span class="flag">--model.</span>'),
        (
            "Record with --cuda-memory-usage=true, once.",
            'Record with <span class="flag">--cuda-memory-usage=true,</span> once.',
        ),
        ("it took 5 ms -- no option", "it took 5\u00a0ms -- no option"),
        ("<b>a--b</b>", "&lt;b&gt;a--b&lt;/b&gt;"),
        ('"--x"', '&#34;<span class="flag">--x</span>&#34;'),
    ],
)
def test_an_option_is_kept_on_one_line_and_all_else_is_escaped(text: str, markup: str) -> None:
    assert prose(text) == markup
