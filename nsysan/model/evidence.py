"""What is known of a run besides its traces: logs, tables and the like, each read by its kind."""

from __future__ import annotations

from typing import TypeVar

import msgspec


class EvidenceItem(msgspec.Struct, frozen=True):
    """What one file tells; ``name`` is the file's, which is the label of every figure out of it."""

    name: str


Item = TypeVar("Item", bound=EvidenceItem)


class Evidence(msgspec.Struct, frozen=True):
    """All of it, in the order it was given; ``keep_identity`` says whether names of hosts in it may be shown."""

    items: tuple[EvidenceItem, ...] = ()
    keep_identity: bool = False

    def of(self, kind: type[Item]) -> tuple[Item, ...]:
        """What is of one kind."""
        return tuple(item for item in self.items if isinstance(item, kind))
