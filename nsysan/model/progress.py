"""What a long piece of work tells of itself, to whoever watches."""

from __future__ import annotations


class Progress:
    """Nobody watches: what is told is lost. Whoever does derives from this."""

    def begin(self, doing: str, row_count: int | None = None) -> None:
        """Something else begins, on so many rows at most (None: nobody knows); ``doing`` says it in a few words."""

    def advance(self, row_count: int) -> None:
        """So many more rows of it are done."""


UNWATCHED = Progress()
