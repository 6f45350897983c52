"""What a reader is: how it recognises an input of its format, and how it reads one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

import msgspec

from nsysan.model.contents import Contents
from nsysan.model.details import EVERY_DETAIL, Detail
from nsysan.model.progress import UNWATCHED, Progress
from nsysan.model.text import visible_text
from nsysan.model.trace import Trace


class WorkFold(Protocol):
    """What wants the GPU work of a trace only once, and piece by piece."""

    def fold(self, slices: Iterable[Trace], most_rows: int | None) -> bool:
        """Take up the trace: each slice has the GPU work that begins in its time, after that of the slice before.

        There are ``most_rows`` records at most (None: nobody knows). Records whose times cannot be are in the last
        slice. False where the trace is wanted as a whole all the same, as it is where the slices end with an error.
        """


class ReadOptions(msgspec.Struct, frozen=True):
    """How to read: with which nsys (None: the newest that is found), and whether to hash the whole input.

    ``keep_exports_in`` is the folder that keeps the export of a report for the next time, None for no keeping.
    ``progress`` is told what is being done. Without ``with_host`` a reader may leave out what the host did, and what is
    not among the ``details``: its tables are then None, as if they had not been recorded. ``counts_all`` is for surveys
    of large exports. A reader may give the GPU work to ``fold`` instead: the tables of the trace are empty then.
    """

    nsys: str | None = None
    hash_content: bool = False
    progress: Progress = UNWATCHED
    keep_exports_in: Path | None = None
    with_host: bool = True
    details: frozenset[Detail] = EVERY_DETAIL
    counts_all: bool = False
    fold: WorkFold | None = None


class Candidate(msgspec.Struct, frozen=True):
    """An input whose format is not known yet; ``head`` is its first bytes, none where it is a folder."""

    path: Path
    is_folder: bool
    size_bytes: int
    head: bytes

    @property
    def shown_name(self) -> str:
        """The path as the user gave it, safe to show."""
        return visible_text(str(self.path))


class Reader(msgspec.Struct, frozen=True):
    """One format. ``recognise`` looks at the candidate only; ``read`` raises InputError or MissingToolError.

    ``survey`` says what an input holds, without reading its records where the format can be counted, and raises alike.
    ``needs_modules`` are those beyond nsysan's own requirements that reading imports.
    """

    id: str
    recognise: Callable[[Candidate], bool]
    read: Callable[[Candidate, ReadOptions], Trace]
    survey: Callable[[Candidate, ReadOptions], Contents]
    needs_modules: tuple[str, ...] = ()
