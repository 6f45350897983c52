"""A gate's verdict in Markdown, as the pages of a CI service show it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from nsysan import __version__
from nsysan.history.gate import GateResult
from nsysan.model.text import visible_text
from nsysan.report.gate_text import HEADS, cells_of, gate_sentences

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|~&@:.-])")
"""What Markdown, its tables, its links and its mentions are made of."""


def encode_markdown(result: GateResult) -> bytes:
    """The sentences, the first of them bold, and a table with a row a figure, as UTF-8; all text is escaped."""
    verdict, *reasons = (escaped(sentence) for sentence in gate_sentences(result))
    blocks = [f"**{verdict}**", *reasons, "\n".join(_table(result)), f"Written by nsysan {__version__}."]
    return ("\n\n".join(blocks) + "\n").encode()


def escaped(text: str) -> str:
    """The text such that Markdown shows it as it is."""
    return _SPECIAL.sub(r"\\\1", visible_text(text))


def _table(result: GateResult) -> Iterator[str]:
    yield _row([escaped(head) or "verdict" for head in HEADS])
    yield _row(["---"] + ["---:"] * (len(HEADS) - 2) + ["---"])
    for judgement in result.judgements:
        yield _row([escaped(cell) for cell in cells_of(judgement)])


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
