"""Names that end in a running number."""

from __future__ import annotations

import msgspec


class Numbering(msgspec.Struct, frozen=True, kw_only=True):
    """Names that end in a running number, ``count`` of them in each recording (0: none do): the next one counts on."""

    prefix: str
    count: int

    def later(self, text: str | None, recordings: int) -> str | None:
        """``text`` as it is so many recordings later."""
        if text is None or self.count == 0:
            return text
        number = text.removeprefix(self.prefix)
        if number == text or not number.isdecimal():
            return text
        return f"{self.prefix}{int(number) + recordings * self.count}"
