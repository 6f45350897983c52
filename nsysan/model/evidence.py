"""What is known of a run besides its traces: logs, tables and the like, each read by its kind."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """What one file tells; ``name`` is the file's, which is the label of every figure out of it."""

    name: str


Item = TypeVar("Item", bound=EvidenceItem)


@dataclass(frozen=True, slots=True)
class Evidence:
    """All of it, in the order it was given; ``keep_identity`` says whether names of hosts in it may be shown."""

    items: tuple[EvidenceItem, ...] = ()
    keep_identity: bool = False

    def of(self, kind: type[Item]) -> tuple[Item, ...]:
        """What is of one kind."""
        return tuple(item for item in self.items if isinstance(item, kind))
