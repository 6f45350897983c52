"""Text out of a trace is hostile: this makes it safe to show, and keeps distinct names distinct."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

DISPLAY_LIMIT = 240
LISTED_NAMES = 12
"""So many names of what there is say enough to somebody who asked for something else."""
_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})


def display_text(raw: str, limit: int = DISPLAY_LIMIT) -> str:
    """``raw`` with control, format and surrogate characters spelt out, cut at ``limit`` characters.

    Nothing in the answer can move a terminal's cursor, reverse reading order or end a line. A cut text ends
    in ``…`` and a short hash of the whole, so that two long names that begin alike stay distinct.
    """
    if len(raw) <= limit:
        return visible_text(raw)
    return f"{visible_text(raw[:limit])}… #{text_hash(raw)[:8]}"


def text_hash(raw: str) -> str:
    """The first 16 hex digits of the SHA-256 of ``raw``: an identity for names too long to show."""
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def first_names(names: Sequence[str]) -> str:
    """The names with commas between; of more than twelve the first, and how many are left: ``a, b and 3 more``."""
    more = f" and {len(names) - LISTED_NAMES} more" if len(names) > LISTED_NAMES else ""
    return f"{', '.join(names[:LISTED_NAMES])}{more}"


def natural_order(name: str) -> list[tuple[int, str]]:
    """What names are sorted by so that numbers inside them count by value: rank 10 follows rank 9."""
    pieces = re.findall(r"[0-9]+|[^0-9]+", name)
    return [(int(piece), "") if piece[0] in "0123456789" else (-1, piece) for piece in pieces]


def visible_text(text: str) -> str:
    """``text`` with control, format and surrogate characters spelt out, and nothing cut; twice is as once."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def visible_document(value: Any) -> Any:
    """A JSON document with its texts safe to show, as nsysan wrote them; somebody else may have changed it since."""
    if isinstance(value, str):
        return visible_text(value)
    if isinstance(value, list):
        return [visible_document(entry) for entry in value]
    if isinstance(value, dict):
        return {visible_text(key): visible_document(entry) for key, entry in value.items()}
    return value


def _visible(character: str) -> str:
    code = ord(character)
    # the last two of each plane are no characters; XML has not all of them
    if unicodedata.category(character) not in _HIDDEN_CATEGORIES and code & 0xFFFE != 0xFFFE:
        return character
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
