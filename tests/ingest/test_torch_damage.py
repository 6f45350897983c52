"""Damaged and hostile PyTorch traces end in one sentence or a right answer, in bounded memory."""

from __future__ import annotations

import gzip
import itertools
import json
import tempfile
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.ingest.torch.json_stream import JsonStream
from nsysan.model.errors import InputError
from tests.ingest.reading import read, refusal, rows
from tests.ingest.torch_traces import annotation, as_json, kernel

TRACE = as_json(annotation(1, 9), kernel(5.125, 1, name="k\u00e9\n"), distributedInfo={"rank": 0}).encode()
PREFIX = b'{"schemaVersion": 1, "traceEvents": '


CUT_TOO_SOON = "but the begin of a trace of PyTorch's profiler that was cut off; it begins with"


def test_cut_off_anywhere(tmp_path: Path) -> None:
    """M16: before the first key stands the name says what it was to be."""
    path = tmp_path / "rank0.pt.trace.json"
    for size in range(1, len(TRACE)):
        path.write_bytes(TRACE[:size])
        recognised = size >= len(b'{"schemaVersion":')
        assert (f"{path} is cut off: its JSON stops before its end." if recognised else CUT_TOO_SOON) in refusal(
            path
        ).message


@pytest.mark.parametrize("name", ["rank0.pt.trace.json.gz", "RANK0.JSON.GZ"])
def test_gzip_cut_off_anywhere(tmp_path: Path, name: str) -> None:
    """M16."""
    path, packed = tmp_path / name, gzip.compress(TRACE)
    for size in range(2, len(packed)):
        path.write_bytes(packed[:size])
        told = f"{path} is cut off: its gzip data cannot be read on." if size > len(packed) // 2 else "cut off"
        error = refusal(path)
        assert told in error.message
        assert error.hint.startswith("Copy the file again")


def test_packed_json_that_is_whole_is_not_called_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "losses.json.gz"
    path.write_bytes(gzip.compress(b'{"loss": 2.5}'))

    assert "but gzip-compressed data; it begins with" in refusal(path).message


@pytest.mark.parametrize(
    ("rest", "complaint"),
    [
        (b"[" * 1_000_000, "is damaged: its JSON cannot be read near character 37, it nests too deeply."),
        (b'[{"a":' * 1_000_000, "is damaged: its JSON cannot be read near character 37, it nests too deeply."),
        (b"[nan]}", "is damaged: its JSON cannot be read near character 37, a value cannot be read."),
        (b"[{'ts': 1}]}", "is damaged: its JSON cannot be read near character 37, a value cannot be read."),
        (b'[{"ts": 1}{}]}', "is damaged: its JSON cannot be read near character 46, there is no ','."),
        (b'[] "a": 1}', "is damaged: its JSON cannot be read near character 39, there is no ','."),
        (b"[], 7: 1}", "is damaged: its JSON cannot be read near character 40, a key is no text."),
        (b"[]} {}", "is damaged: its JSON cannot be read near character 40, there is more after its end."),
        (b"7}", "holds something else than a list of events under traceEvents."),
        (b'[], "traceEvents": []}', "has two lists of events under traceEvents."),
    ],
)
def test_what_is_no_trace(tmp_path: Path, rest: bytes, complaint: str) -> None:
    """M16: a million levels of nesting among it."""
    path = tmp_path / "rank0.pt.trace.json"
    path.write_bytes(PREFIX + rest)

    error = refusal(path)

    assert (error.exit_code, error.message) == (2, f"{path} {complaint}")


def test_json_without_events(tmp_path: Path) -> None:
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text('{"schemaVersion": 1, "baseTimeNanoseconds": 5}')

    assert refusal(path).message == f"{path} is JSON without traceEvents: it is no trace of the PyTorch profiler."


def test_of_equal_keys_the_last_counts_as_everywhere_in_json(tmp_path: Path) -> None:
    """M16."""
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(as_json(kernel(5, 1), kernel(7, 1)).replace('"ts": 7', '"ts": 99, "ts": 8'))

    assert rows(read(path).kernels, "start_ns") == [(0,), (3_000,)]


@pytest.mark.parametrize("odd", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_what_is_no_number_is_no_time(tmp_path: Path, odd: str) -> None:
    """M16."""
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(as_json(kernel(5, 1), kernel(7, 1)).replace('"ts": 7', f'"ts": {odd}'))

    trace = read(path)

    assert rows(trace.kernels, "start_ns") == [(0,)]
    assert trace.unreadable_records == {"kernel": 1}


def test_numbers_of_more_digits_than_python_converts(tmp_path: Path) -> None:
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(as_json(kernel(5, 1), kernel(7, 1)).replace('"ts": 7', f'"ts": {"9" * 100_000}.5'))

    assert dict(read(path).unreadable_records) == {"kernel": 1}


def test_a_gzip_bomb(tmp_path: Path) -> None:
    path = tmp_path / "rank0.pt.trace.json.gz"
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    spaces = b" " * (1 << 20)
    path.write_bytes(packer.compress(PREFIX) + b"".join(packer.compress(spaces) for _ in range(100)) + packer.flush())

    assert refusal(path).message == f"{path} expands to over 200 times its size: it is no trace."


def test_a_value_without_end_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "rank0.pt.trace.json"
    path.write_bytes(PREFIX + b'[{"name": "' + b"x" * (40 << 20))

    assert "a value cannot be read" in refusal(path).message


def test_events_are_read_in_bounded_memory() -> None:
    one = json.dumps(kernel(5.125, 1)).encode() + b","
    pieces = itertools.chain([b"["], itertools.repeat(one * 1_000, 30), [b"0]"])
    tracemalloc.start()

    count = sum(1 for _ in JsonStream(lambda _size: next(pieces, b""), "trace").elements())

    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 30_001
    # the text is 4.7 MB
    assert len(one) * 30_000 > 4.5e6
    assert peak_bytes < 2e6


@given(
    st.lists(st.integers(1, 40), min_size=1),
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists),
)
def test_pieces_of_any_size_make_the_same_value(sizes: list[int], value: object) -> None:
    text = json.dumps([value, -12345, {"key": value}, 0], ensure_ascii=False).encode()
    cuts = list(itertools.accumulate(itertools.islice(itertools.cycle(sizes), len(text)), initial=0))
    pieces = (text[begin:end] for begin, end in itertools.pairwise(cuts))

    found = list(JsonStream(lambda _size: next(pieces, b""), "trace").elements())

    assert found == [value, -12345, {"key": value}, 0]


@settings(deadline=None)
@given(st.integers(0, len(TRACE) - 1), st.binary(max_size=3), st.integers(0, 3))
def test_random_damage_is_an_input_error_or_a_trace(place: int, inserted: bytes, removed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rank0.pt.trace.json"
        path.write_bytes(TRACE[:place] + inserted + TRACE[place + removed :])
        assert _outcome(path) in {"torch_profile", "refused"}


def _outcome(path: Path) -> str:
    try:
        return read(path).reader
    except InputError:
        return "refused"
