"""Opens an SQLite file for reading: no lock, no side file, no trust in its schema, and what a writer left is seen."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from nsysan.ingest.private_folder import no_room, private_folder
from nsysan.ingest.source import decode_text
from nsysan.ingest.sqlite.header import check_length
from nsysan.ingest.stillness import SIDE_FILE_SUFFIXES, side_files
from nsysan.model.errors import InputError
from nsysan.model.text import display_text

_PROTECTIONS = ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON")
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_EXPORT_AGAIN = "It may be damaged: copy it again, or export the report again: nsys export -t sqlite REPORT"


@contextmanager
def open_database(path: Path, shown_name: str) -> Iterator[sqlite3.Connection]:
    """A connection that can only read, text decoded with replacement characters where it is no UTF-8.

    Raises InputError where the file is cut off, and for any damage that is found while the connection is used.
    """
    with _damage_reported(shown_name), _settled(path) as database:
        check_length(database, shown_name)
        with closing(_connect(database)) as connection:
            yield connection


def check_structure(connection: sqlite3.Connection) -> None:
    """Walk the whole database. Raises sqlite3.DatabaseError with the first fault found."""
    (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    if answer != "ok":
        raise sqlite3.DatabaseError(answer)


def _connect(path: Path) -> sqlite3.Connection:
    # immutable: no lock is taken, and a folder that cannot be written needs no -shm file
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True, isolation_level=None)
    connection.text_factory = decode_text
    for protection in _PROTECTIONS:
        connection.execute(f"PRAGMA {protection}")
    return connection


@contextmanager
def _damage_reported(shown_name: str) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, UnicodeDecodeError) as error:
        # UnicodeDecodeError: sqlite3 decodes its own messages strictly, and they quote the damaged schema
        why = display_text(str(error)) if isinstance(error, sqlite3.Error) else "its schema is no text"
        raise InputError(f"{shown_name} cannot be read as an SQLite database: {why}.", _EXPORT_AGAIN) from error


def _has_content(path: Path) -> bool:
    try:
        return path.is_file() and path.stat().st_size > 0
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            # the database's own name is as long as a name can be: SQLite cannot have put anything beside it
            return False
        raise


@contextmanager
def _settled(path: Path) -> Iterator[Path]:
    """The database itself, or, where changes wait beside it, a private copy that they have been brought into."""
    if not any(map(_has_content, side_files(path))):
        yield path
        return
    with private_folder() as folder:
        copy = folder / "copy.sqlite"
        _copy_with_side_files(path, copy)
        _settle(copy)
        yield copy


def _copy_with_side_files(path: Path, copy: Path) -> None:
    try:
        shutil.copyfile(path, copy)
        for suffix, side_file in zip(SIDE_FILE_SUFFIXES, side_files(path), strict=True):
            if side_file.is_file():
                shutil.copyfile(side_file, copy.with_name(copy.name + suffix))
    except OSError as error:
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise no_room() from error
        raise


def _settle(copy: Path) -> None:
    """Let SQLite bring the committed changes in and take the others back, as its next user would."""
    _refuse_foreign_journal(copy.with_name(copy.name + "-journal"))
    with closing(sqlite3.connect(copy, isolation_level=None)) as connection:
        connection.execute("PRAGMA trusted_schema=OFF")
        connection.execute("PRAGMA journal_mode=DELETE").fetchall()


def _refuse_foreign_journal(journal: Path) -> None:
    # SQLite would delete the file that such a journal names, wherever that is
    if not journal.exists() or journal.stat().st_size < len(_JOURNAL_MAGIC):
        return
    with journal.open("rb") as file:
        file.seek(-len(_JOURNAL_MAGIC), os.SEEK_END)
        if file.read() == _JOURNAL_MAGIC:
            raise sqlite3.DatabaseError("its journal belongs to a transaction over several databases")
