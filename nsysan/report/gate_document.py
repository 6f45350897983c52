"""A gate's verdict as JSON: its sentences, and all that they are made of."""

from __future__ import annotations

import msgspec

from nsysan import __version__
from nsysan.history.gate import GateResult
from nsysan.report.gate_text import gate_sentences


class _Document(msgspec.Struct, frozen=True):
    nsysan_version: str
    sentences: tuple[str, ...]
    gate: GateResult


def encode_gate(result: GateResult) -> bytes:
    """The verdict as indented UTF-8 JSON, keys in a fixed order, ending in a newline."""
    document = _Document(__version__, tuple(gate_sentences(result)), result)
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
