"""The names the timeline shows, each kept once and as many as there is room for."""

from __future__ import annotations

from nsysan.model.text import display_text

NO_ROOM = 0
"""Stands for every name that came when there was no room left."""


class NameTable:
    """Names by number, from 1 on in the order they were first asked for."""

    def __init__(self, limit_bytes: int) -> None:
        self._numbers: dict[str, int] = {}
        self._left_bytes = limit_bytes

    @property
    def names(self) -> tuple[str, ...]:
        """The names, the first of which has number 1."""
        return tuple(self._numbers)

    def number(self, raw: str) -> int:
        """The number of a name out of the trace; ``NO_ROOM`` where it is new and does not fit."""
        name = display_text(raw)
        if name not in self._numbers:
            size_bytes = len(name.encode("utf-8", "backslashreplace"))
            if size_bytes > self._left_bytes:
                return NO_ROOM
            self._left_bytes -= size_bytes
            self._numbers[name] = len(self._numbers) + 1
        return self._numbers[name]
