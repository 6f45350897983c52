"""Names that clients give to things: text to show, and never a path."""

from __future__ import annotations

import re

from nsysan.model.text import visible_text

LONGEST_NAME = 200
LONGEST_TITLE = 200
LONGEST_LABEL = 80
MOST_LABELS = 16


def file_name(given: str) -> str:
    """The last part of the name, for people: no folder of either kind of slash, nothing hidden, never empty."""
    last = visible_text(re.split(r"[/\\]", given)[-1]).strip()
    return "unnamed" if last in ("", ".", "..") else last[-LONGEST_NAME:]


def title_text(given: str, otherwise: str) -> str:
    """The text in one line, cut, with nothing hidden in it; ``otherwise`` where it is empty."""
    return visible_text(" ".join(given.split()))[:LONGEST_TITLE] or otherwise


def label_texts(given: str) -> tuple[str, ...]:
    """Labels out of a text that holds them between commas or line ends; each once."""
    labels = (visible_text(" ".join(part.split()))[:LONGEST_LABEL] for part in re.split(r"[,\r\n]", given))
    return tuple(dict.fromkeys(filter(None, labels)))[:MOST_LABELS]
