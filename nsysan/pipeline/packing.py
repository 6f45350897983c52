"""A report as bytes that travel between processes: its columns, each in as few bytes as it needs.

Times ascend, so that a column of them travels as differences; a column with one value in all rows as that value, which
it also is again at the other end. Of a megabyte of SQLite 20 to 100 kB are left.
"""

from __future__ import annotations

import io
import pickle
import zlib
from typing import Any

import numpy as np

from nsysan.model.columns import as_few_bytes, is_one_value

_FASTEST = 1


def packed(value: object) -> bytes:
    """The value as bytes that ``unpacked`` makes it of again."""
    file = io.BytesIO()
    _Packer(file, protocol=pickle.HIGHEST_PROTOCOL).dump(value)
    return zlib.compress(file.getbuffer(), _FASTEST)


def unpacked(data: bytes) -> Any:
    """The value again. The bytes must be of ``packed`` of the same nsysan: they may hold anything else."""
    return pickle.loads(zlib.decompress(data))  # noqa: S301 -- a task of our own packed it


class _Packer(pickle.Pickler):
    """Pickles columns of integers by what they hold instead of by their bytes."""

    def reducer_override(self, value: Any) -> Any:
        """How a column is made again; everything else is pickled as always."""
        if not (isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "i" and len(value)):
            return NotImplemented
        if is_one_value(value):
            return _repeated, (value.dtype.str, int(value[0]), len(value))
        # wraps where the values are far apart, and the sum wraps back
        wide = value.astype(np.int64)
        steps = as_few_bytes(wide[1:] - wide[:-1])
        if steps.itemsize >= value.itemsize:
            return _columned, (value.dtype.str, value.tobytes())
        return _summed, (value.dtype.str, int(value[0]), steps.dtype.str, steps.tobytes())


def _repeated(dtype: str, value: int, count: int) -> Any:
    return np.broadcast_to(np.array([value], dtype), count)


def _columned(dtype: str, content: bytes) -> Any:
    return np.frombuffer(content, dtype).copy()


def _summed(dtype: str, first: int, steps_dtype: str, steps: bytes) -> Any:
    differences = np.frombuffer(steps, steps_dtype)
    values = np.empty(len(differences) + 1, np.int64)
    values[0] = first
    np.cumsum(differences, out=values[1:], dtype=np.int64)
    values[1:] += first
    return values.astype(dtype, copy=False)
