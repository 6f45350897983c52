"""JSON value by value from a stream, so that a long list is never in memory as a whole."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from typing import Any

from nsysan.ingest.torch.opening import RECORD_AGAIN, ReadBytes
from nsysan.model.errors import InputError

_CHUNK_BYTES = 1 << 20
_LONGEST_VALUE = 32 << 20
"""In characters; the longest that a trace needs is a few thousand."""
_SPACE = re.compile(r"[ \t\r\n]*")
_AFTER_A_NUMBER = frozenset(" \t\r\n,]}")
_BRACKETS_AND_QUOTE = frozenset(']}"')
_CUT_TOKEN = re.compile(r"\\?[\w.+-]{0,12}")
"""What is left of an escape, a constant or a number, or nothing where something had to come."""


def _no_number(_constant: str) -> None:
    """NaN and infinities are no value."""


# a fraction stays as it is written, for a float would round it; bytes, because no other JSON value becomes bytes
_DECODER = json.JSONDecoder(parse_float=str.encode, parse_constant=_no_number, strict=False)


class JsonStream:
    """The JSON text that ``read`` yields. Fractions are the bytes they are written as, NaN is None.

    Of equal keys of an object the last counts. Text that is not UTF-8 is replaced. Every method raises InputError
    where the JSON ends early, cannot be read, or nests too deeply.
    """

    def __init__(self, read: ReadBytes, shown_name: str) -> None:
        self._read = read
        self._shown_name = shown_name
        self._decode = codecs.getincrementaldecoder("utf-8-sig")("replace").decode
        self._text = ""
        self._position = 0
        self._passed = 0
        self._at_end = False

    def members(self) -> Iterator[str]:
        """The keys of an object; each value must be taken before the next key is asked for."""
        self._expect("{")
        if self._next_is("}"):
            return
        while True:
            if self.peek() not in {'"', ""}:
                raise self._damaged("a key is no text")
            key = self.value()
            self._expect(":")
            yield key
            if self._next_is("}"):
                return
            self._expect(",")

    def elements(self) -> Iterator[Any]:
        """The elements of a list, each decoded on its own."""
        self._expect("[")
        if self._next_is("]"):
            return
        while True:
            yield self.value()
            if self._next_is("]"):
                return
            self._expect(",")

    def value(self) -> Any:
        """The next value as a whole."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._position)
            except RecursionError as error:
                raise self._damaged("it nests too deeply") from error
            except ValueError as error:
                self._or_read_on(error)
                continue
            if self._is_whole(end):
                self._position = end
                return value
            self._or_read_on(None)

    def peek(self) -> str:
        """The next character that is no white space, which stays; none at the end."""
        while True:
            if match := _SPACE.match(self._text, self._position):
                self._position = match.end()
            if self._position < len(self._text):
                return self._text[self._position]
            if self._at_end:
                return ""
            self._read_on()

    def expect_end(self) -> None:
        """Nothing but white space may be left."""
        if self.peek():
            raise self._damaged("there is more after its end")

    def _is_whole(self, end: int) -> bool:
        """Whether a value that seems to end there does: a number may go on in what has not been read yet."""
        return self._text[end - 1] in _BRACKETS_AND_QUOTE or (
            end < len(self._text) and self._text[end] in _AFTER_A_NUMBER
        )

    def _next_is(self, mark: str) -> bool:
        if self.peek() != mark:
            return False
        self._position += 1
        return True

    def _expect(self, mark: str) -> None:
        if not self._next_is(mark):
            raise self._damaged(f"there is no {mark!r}") if self.peek() else self._cut_off()

    def _or_read_on(self, error: ValueError | None) -> None:
        """Read on where that may complete a value; raise where it cannot."""
        if self._at_end and (error is None or self._broke_at_the_end(error)):
            raise self._cut_off() from error
        if self._at_end or len(self._text) - self._position > _LONGEST_VALUE:
            raise self._damaged("a value cannot be read") from error
        self._read_on()

    def _broke_at_the_end(self, error: ValueError) -> bool:
        """Whether the text just stops: inside a string, or inside or before what had to come."""
        if not isinstance(error, json.JSONDecodeError):
            return False
        rest = self._text[error.pos :].strip()
        return error.msg.startswith("Unterminated string") or _CUT_TOKEN.fullmatch(rest) is not None

    def _read_on(self) -> None:
        rest = self._text[self._position :]
        # as much again as is waiting, so that a long value is tried few times
        data = self._read(max(_CHUNK_BYTES, len(rest)))
        self._at_end = not data
        self._passed += self._position
        self._text, self._position = rest + self._decode(data, self._at_end), 0

    def _cut_off(self) -> InputError:
        return InputError(f"{self._shown_name} is cut off: its JSON stops before its end.", RECORD_AGAIN)

    def _damaged(self, what: str) -> InputError:
        place = f"near character {self._passed + self._position:,}"
        return InputError(f"{self._shown_name} is damaged: its JSON cannot be read {place}, {what}.", RECORD_AGAIN)
