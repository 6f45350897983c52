"""A comparison as JSON: its sentences, and all that they are made of."""

from __future__ import annotations

import msgspec

from nsysan import __version__
from nsysan.history.comparison import Comparison
from nsysan.report.comparison.sentences import sentences_of, state_comparison


class _Document(msgspec.Struct, frozen=True):
    nsysan_version: str
    sentences: tuple[str, ...]
    comparison: Comparison


def encode_comparison(comparison: Comparison) -> bytes:
    """The comparison as indented UTF-8 JSON, keys in a fixed order, ending in a newline."""
    sentences = (state_comparison(comparison), *sentences_of(comparison))
    document = _Document(__version__, sentences, comparison)
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
