"""The SQLite file that knows everything: what is not in it is not there, and what is in it is whole.

One connection and one lock: changes are transactions that take SQLite's write lock first, so that nothing is ever half
done, whenever the process dies. The write-ahead log is flushed to the disk with each of them.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING

from nsysan.model.errors import InputError, MissingToolError
from nsysan.output.failure import writing
from nsysan.service.schema import LEDGER

if TYPE_CHECKING:
    from sqlite_utils import Database

PATIENCE_S = 60.0
"""How long a change waits for one that another process makes."""


class Ledger:
    """The tables of ``schema``. Raises InputError where the file is something else."""

    def __init__(self, path: Path) -> None:
        try:
            from sqlite_utils import Database as Tables
        except ImportError as error:
            raise MissingToolError(
                "A server needs packages that are not installed.", "Install them with: pip install 'nsysan[serve]'"
            ) from error
        self._lock = RLock()
        # whoever makes it, and whatever folder it lies in: SQLite gives its other files the same mode
        with writing(path, "Name another folder with --data."):
            os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        self._connection = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False)
        try:
            self._connection.execute("pragma journal_mode = wal")
            self._connection.execute("pragma synchronous = full")
            self._database = Tables(self._connection, execute_plugins=False, recursive_triggers=False)
            with self.changing() as database:
                LEDGER.bring_up_to_date(database, path.name)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            raise InputError(f"The ledger cannot be used: {error}.", "Name another folder with --data.") from error
        except BaseException:
            self._connection.close()
            raise

    @contextmanager
    def changing(self) -> Iterator[Database]:
        """The tables, for a change that is made whole where the block ends well, and else not at all."""
        with self._transaction("BEGIN IMMEDIATE") as database:
            yield database

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """The tables as they are at one moment."""
        with self._transaction("BEGIN") as database:
            yield database

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Nobody else in this process reads or changes anything meanwhile."""
        with self._lock:
            yield

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[Database]:
        with self._lock:
            self._connection.execute(begin)
            try:
                yield self._database
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
