"""A column with few distinct values: a small table of them, and for each row the place of its value there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from nsysan.model.arrays import BoolArray, IdArray, Int64Array


class CodedColumn(NDArrayOperatorsMixin):
    """Integers of 64 bits that take a byte or two a row. To whoever uses it, it is an array that cannot be written.

    What is asked for at some rows, and what numpy's functions are given, is an ordinary array. Arithmetic with a single
    number is done once for each value, not for each row.
    """

    __slots__ = ("_all_occur", "places", "values")
    dtype = np.dtype(np.int64)
    ndim = 1

    def __init__(self, values: Int64Array, places: IdArray, *, all_occur: bool) -> None:
        """``values`` ascend, none twice; ``all_occur`` says that each has a row."""
        self.values = values
        self.places = places
        self._all_occur = all_occur

    def __len__(self) -> int:
        return len(self.places)

    @property
    def shape(self) -> tuple[int]:
        """The number of rows."""
        return (len(self),)

    @property
    def nbytes(self) -> int:
        """What rows and values take."""
        return self.places.nbytes + self.values.nbytes

    def __getitem__(self, rows: Any) -> Any:
        return self.values[self.places[rows]]

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:  # noqa: FBT001 -- numpy's protocol
        return np.asarray(self.values[self.places], dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "at" or any(of is self for of in options.get("out", ())):
            raise TypeError("a coded column cannot be written to")
        if (
            method == "__call__"
            and ufunc.nout == 1
            and not options
            and all(of is self or np.ndim(of) == 0 for of in inputs)
        ):
            return self._with_values(ufunc(*(self.values if of is self else of for of in inputs)))
        arrays = (np.asarray(of) if isinstance(of, CodedColumn) else of for of in inputs)
        return getattr(ufunc, method)(*arrays, **options)

    def tolist(self) -> list[int]:
        """The value of each row."""
        return cast("list[int]", self[:].tolist())

    def astype(self, dtype: Any, *, copy: bool = True) -> Any:
        """The value of each row as another type."""
        return self[:].astype(dtype, copy=copy)

    def min(self) -> Any:
        """The smallest value of any row."""
        return self.occurring().values[0]

    def max(self) -> Any:
        """The largest value of any row."""
        return self.occurring().values[-1]

    def take(self, rows: IdArray | BoolArray | slice) -> CodedColumn:
        """The rows at these places, or where the mask says so."""
        return CodedColumn(self.values, self.places[rows], all_occur=False)

    def occurring(self) -> CodedColumn:
        """The same rows with those values alone that one of them has."""
        if self._all_occur:
            return self
        occurs = np.zeros(len(self.values), np.bool_)
        occurs[self.places] = True
        if occurs.all():
            return CodedColumn(self.values, self.places, all_occur=True)
        renumbered = (np.cumsum(occurs) - 1).astype(self.places.dtype)
        return CodedColumn(self.values[occurs], renumbered[self.places], all_occur=True)

    def _with_values(self, values: Any) -> Any:
        """The rows with other values at the places; plain where those are no integers of 64 bits."""
        if isinstance(values, np.ndarray) and values.dtype == self.dtype:
            return coded_column(values, self.places, all_occur=self._all_occur)
        if values.dtype == np.bool_ and np.count_nonzero(values) == 1:
            # to compare all places with one is much quicker than to look each of them up
            return self.places == values.argmax()
        return values[self.places]


def coded_column(values: Int64Array, places: IdArray, *, all_occur: bool = True) -> IdArray:
    """The column that has ``values[places[i]]`` in row ``i``; typed as an array, as which it answers."""
    if (values[1:] <= values[:-1]).any():
        values, renumbered = np.unique(values, return_inverse=True)
        places = renumbered.astype(places.dtype)[places]
    return cast("IdArray", CodedColumn(values, places, all_occur=all_occur))
