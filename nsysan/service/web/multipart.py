"""Forms with files, as browsers and curl send them: taken apart as they come, so that no file is ever in memory."""

from __future__ import annotations

from collections.abc import AsyncIterator

import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from nsysan.service.refusals import Refusal, TooMuch

_LONGEST_FIELD_BYTES = 1 << 17
_MOST_PARTS = 2048


class FieldCame(msgspec.Struct, frozen=True):
    """A field of the form, whole."""

    name: str
    value: str


class FileBegan(msgspec.Struct, frozen=True):
    """A file begins; what it is called."""

    name: str


class FileWentOn(msgspec.Struct, frozen=True):
    """More of the file."""

    data: bytes


class FileEnded(msgspec.Struct, frozen=True):
    """The file is whole."""


Came = FieldCame | FileBegan | FileWentOn | FileEnded


class _Parts(msgspec.Struct):
    """What the parser calls back: bytes of headers and data become what came."""

    came: list[Came] = msgspec.field(default_factory=list)
    count: int = 0
    header_name: bytes = b""
    header_value: bytes = b""
    name: str = ""
    value: bytearray = msgspec.field(default_factory=bytearray)
    is_file: bool = False

    def begin(self) -> None:
        self.count += 1
        if self.count > _MOST_PARTS:
            raise TooMuch("The form has too many parts.")
        self.name, self.is_file = "", False
        self.value.clear()

    def header_field(self, data: bytes, start: int, end: int) -> None:
        self.header_name += data[start:end]

    def header_data(self, data: bytes, start: int, end: int) -> None:
        self.header_value += data[start:end]

    def header_end(self) -> None:
        if self.header_name.lower() == b"content-disposition":
            _, options = parse_options_header(self.header_value)
            self.name = options.get(b"name", b"").decode("utf-8", "replace")
            if b"filename" in options:
                self.is_file = True
                self.came.append(FileBegan(options[b"filename"].decode("utf-8", "replace")))
        self.header_name = self.header_value = b""

    def data(self, data: bytes, start: int, end: int) -> None:
        if self.is_file:
            self.came.append(FileWentOn(data[start:end]))
            return
        self.value += data[start:end]
        if len(self.value) > _LONGEST_FIELD_BYTES:
            raise TooMuch("A field of the form is too long.")

    def end(self) -> None:
        self.came.append(FileEnded() if self.is_file else FieldCame(self.name, self.value.decode("utf-8", "replace")))


async def parts_of(content_type: str, body: AsyncIterator[bytes]) -> AsyncIterator[Came]:
    """What comes of the form, in its order. Raises Refusal where it is none or ends too soon."""
    _, options = parse_options_header(content_type)
    if b"boundary" not in options:
        raise Refusal("This is no form with files.", "Send it as multipart/form-data.", status=415)
    parts = _Parts()
    try:
        parser = MultipartParser(
            options[b"boundary"],
            {
                "on_part_begin": parts.begin,
                "on_header_field": parts.header_field,
                "on_header_value": parts.header_data,
                "on_header_end": parts.header_end,
                "on_part_data": parts.data,
                "on_part_end": parts.end,
            },
        )
        async for chunk in body:
            parser.write(chunk)
            for came in parts.came:
                yield came
            parts.came.clear()
        parser.finalize()
    except FormParserError as error:
        raise Refusal("The form is damaged, or ends too soon.", "Send it again.") from error
