"""Rows of integers, packed as they come: a tenth of what lists of them would take."""

from __future__ import annotations

from struct import Struct

import numpy as np

from nsysan.model.arrays import Int64Array


class Rows:
    """The records of one kind, each a row of ``width`` integers."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._pack = Struct(f"={width}q").pack
        self._packed = bytearray()

    def append(self, *row: int) -> None:
        """Add a row, all of it or nothing. Raises struct.error where a value is no int64."""
        self._packed += self._pack(*row)

    def columns(self) -> list[Int64Array]:
        """The rows as columns."""
        table = np.frombuffer(self._packed, np.int64).reshape(-1, self._width)
        return [np.ascontiguousarray(table[:, column]) for column in range(self._width)]
