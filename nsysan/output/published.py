"""Which files have come to be under their own names, for whoever must tell the truth when a run is cut short."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

_PUBLISHED: ContextVar[list[Path] | None] = ContextVar("published", default=None)


@contextmanager
def keeping_record() -> Iterator[list[Path]]:
    """The list that every file joins as it takes its name in the block."""
    published: list[Path] = []
    token = _PUBLISHED.set(published)
    try:
        yield published
    finally:
        _PUBLISHED.reset(token)


def publish(part: Path, target: Path) -> None:
    """Let the finished file take the target's name, and join the record if one is kept."""
    part.replace(target)
    published = _PUBLISHED.get()
    if published is not None:
        published.append(target)
