"""What a kind of evidence is: how a file of it is recognised, and how it is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from nsysan.model.evidence import EvidenceItem

SAMPLE_BYTES = 1 << 20
"""How much of a file's begin, and of its end, its kind is told by."""


class EvidenceKind(msgspec.Struct, frozen=True):
    """``recognise`` looks at the first and last bytes of a file; ``read`` is given its path and the name as its label.

    ``read`` raises InputError, or OSError where the file cannot be read. ``what`` says in words what it reads.
    """

    id: str
    what: str
    recognise: Callable[[bytes], bool]
    read: Callable[[Path, str], tuple[EvidenceItem, ...]]
