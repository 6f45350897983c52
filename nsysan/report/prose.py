"""How sentences are put together: names as words, lists, shares, and figures that stay beside their units."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from nsysan.model.prose import capitalized as capitalized  # noqa: PLC0414 -- for pages, with the rest
from nsysan.model.prose import paired as paired  # noqa: PLC0414 -- for pages, with the rest
from nsysan.model.prose import spelled as spelled  # noqa: PLC0414 -- for pages, with the rest
from nsysan.model.prose import uncapitalized as uncapitalized  # noqa: PLC0414 -- for pages, with the rest
from nsysan.model.units import format_fraction
from nsysan.report.elements import Place

NO_BREAK_SPACE = "\u00a0"
_FIGURE_AND_UNIT = re.compile(r"(?<=\d) (?=(?:%|(?:points|ns|µs|ms|s|k?B|[MGT]B)(?:/s)?(?!\w)))")


class Phrase(msgspec.Struct, frozen=True):
    """A piece of a sentence; its evidence is the section with the id ``target``, or a place in the timeline."""

    text: str
    target: str | None = None
    place: Place | None = None


Sentence = tuple[Phrase, ...]


def plain(sentence: Sentence) -> str:
    """The sentence without its links."""
    return "".join(phrase.text for phrase in sentence)


def fraction_or(fraction: float | None, unknown: str) -> str:
    """A share as a percentage, or the word for there being none."""
    return unknown if fraction is None else format_fraction(fraction)


def listed(items: Sequence[str]) -> str:
    """The items as a sentence lists them: ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(items[:-1]), *items[-1:])))


def ended(sentence: str) -> str:
    """``sentence`` with a full stop, unless it ends in a mark already."""
    return sentence if sentence.endswith((".", "!", "?")) else f"{sentence}."


def unbroken(text: str) -> str:
    """``text`` with no line break between a figure and its unit."""
    return _FIGURE_AND_UNIT.sub(NO_BREAK_SPACE, text)
