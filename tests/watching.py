"""Somebody who watches a long piece of work."""

from __future__ import annotations

from collections.abc import Callable

from nsysan.model.progress import Progress


class Watching(Progress):
    """Hands on what is said of each thing that begins."""

    def __init__(self, tell: Callable[[str], object]) -> None:
        self._tell = tell

    def begin(self, doing: str, row_count: int | None = None) -> None:  # noqa: ARG002 -- nobody here counts
        """Hand on what begins."""
        self._tell(doing)
