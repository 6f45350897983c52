"""Record batches out of one file, a bounded number of rows at a time.

Nothing here trusts a file: buffers are checked before they are used. What pyarrow has against the content is raised
as pyarrow raises it, for ``damage_reported`` to turn into an InputError that names the file.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from nsysan.model.errors import InputError
from nsysan.model.text import display_text, visible_text

if TYPE_CHECKING:
    import pyarrow as pa

_BATCH_ROWS = 65_536
_FILE_FORMAT_MAGIC = b"ARROW1"
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_EXPORT_AGAIN = "It may be damaged: copy it again, or export the report again: nsys export -t parquetdir REPORT"


@contextmanager
def damage_reported(path: Path) -> Iterator[None]:
    """Raise InputError for whatever pyarrow has against the content of ``path``."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError, OverflowError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        # UnicodeDecodeError: the name of a column
        said = "its schema is no text" if isinstance(error, UnicodeDecodeError) else str(error).partition("\n")[0]
        what = display_text(said) or type(error).__name__
        raise InputError(f"{visible_text(str(path))} cannot be read: {what}.", _EXPORT_AGAIN) from error


def column_names(path: Path) -> list[str]:
    """The names of the columns in the file, which may repeat."""
    if path.suffix == ".parquet":
        return list(_parquet(path).schema_arrow.names)
    with _opened_arrow(path) as (schema, _):
        return list(schema.names)


def row_count(path: Path) -> int:
    """The rows of the file: what a Parquet file says of itself, the length of the batches of an Arrow file."""
    if path.suffix == ".parquet":
        return int(_parquet(path).metadata.num_rows)
    with _opened_arrow(path) as (_, batches):
        return sum(batch.num_rows for batch in batches)


def record_batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of the file as batches of just these columns, checked; text comes as bytes, for it may be no UTF-8."""
    for batch in _parquet_batches(path, columns) if path.suffix == ".parquet" else _arrow_batches(path):
        yield _checked(batch.select(list(columns)))


def _parquet_batches(path: Path, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    yield from _parquet(path).iter_batches(_BATCH_ROWS, columns=list(columns), use_threads=False)


def _arrow_batches(path: Path) -> Iterator[pa.RecordBatch]:
    with _opened_arrow(path) as (_, batches):
        for batch in batches:
            for begin in range(0, batch.num_rows, _BATCH_ROWS):
                yield batch.slice(begin, _BATCH_ROWS)


def _parquet(path: Path) -> pa.parquet.ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(path)


@contextmanager
def _opened_arrow(path: Path) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """The schema and batches of an Arrow file, be it a stream, as nsys writes it, or of the random access format."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        if file.read(len(_FILE_FORMAT_MAGIC)) == _FILE_FORMAT_MAGIC:
            reader = pa.ipc.open_file(file)
            yield reader.schema, (reader.get_batch(index) for index in range(reader.num_record_batches))
            return
        # a stream that was cut between two batches reads like a shorter one, but for the mark at its end
        file.seek(max(file.size() - len(_END_OF_STREAM), 0))
        if file.read() != _END_OF_STREAM:
            raise pa.ArrowInvalid("it is cut off")
        file.seek(0)
        stream = pa.ipc.open_stream(file)
        yield stream.schema, iter(stream)


def _checked(batch: pa.RecordBatch) -> pa.RecordBatch:
    """The batch with its text as bytes; raises pyarrow's error where a buffer does not hold what its length says."""
    import pyarrow as pa

    batch.validate()
    checked = pa.record_batch([_plain(array) for array in batch.columns], names=batch.schema.names)
    checked.validate(full=True)
    return checked


def _plain(array: pa.Array) -> pa.Array:
    import pyarrow as pa

    if pa.types.is_dictionary(array.type):
        array.validate(full=True)
        array = array.dictionary_decode()
    if pa.types.is_string(array.type):
        return array.view(pa.binary())
    return array.view(pa.large_binary()) if pa.types.is_large_string(array.type) else array
