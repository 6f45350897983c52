"""What goes to the process that analyses, and what comes back: JSON, a line each."""

from __future__ import annotations

from typing import Any

import msgspec


class OrderedFile(msgspec.Struct, frozen=True):
    """A file to analyse: where its content lies, and what people call it."""

    path: str
    name: str


class Order(msgspec.Struct, frozen=True):
    """All that the process is told: its files and what was said of them, its own folder, its limits and its nsys.

    ``said`` holds texts by the names of ``SAID``.
    """

    files: tuple[OrderedFile, ...]
    said: dict[str, str]
    folder: str
    unpacked_bytes: int
    entries: int
    memory_bytes: int
    cpu_s: int
    file_bytes: int
    nsys: str | None


class Doing(msgspec.Struct, frozen=True, tag="doing"):
    """What is being done now, and of how many rows how many are done, where that is known."""

    doing: str
    row_count: int | None = None
    done_count: int = 0


class Analysed(msgspec.Struct, frozen=True, tag="analysed"):
    """It went well: the results lie in the folder, and this is what lists show of them."""

    summary: dict[str, Any]


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """It did not: the analyser's sentence and what to try, and whether the files are too dangerous to keep."""

    message: str
    hint: str
    is_dangerous: bool = False


Told = Doing | Analysed | Failed

SAID = ("model", "ranks", "world_size")
"""What people may say of a run that no file of it tells."""
LONGEST_SAID = 1 << 16

FIGURES = (
    "tokens_per_s",
    "compute_busy_frac",
    "mfu",
    "communication_wait_frac",
    "data_wait_ns_per_step",
    "peak_memory_bytes",
)
"""The six baseline figures by their keys, as a summary holds them."""
RESULT = "result"
"""The folder inside the process' own in which the results lie."""
PAGE = "page.html"
RUN_JSON = "run.json"
LONGEST_LINE_BYTES = 1 << 16


def encode_line(message: Order | Told) -> bytes:
    """The message as one line."""
    return msgspec.json.encode(message) + b"\n"


def decode_order(line: bytes) -> Order:
    """The order in a line."""
    return msgspec.json.decode(line, type=Order)


def decode_told(line: bytes) -> Told | None:
    """The message in a line, None where it is none: then something printed what it should not."""
    try:
        told: Told = msgspec.json.decode(line, type=Told)
    except msgspec.MsgspecError:
        return None
    return told
