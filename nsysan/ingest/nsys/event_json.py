"""The payloads in ``nsys export -t json``: one event a line, as nsys records it.

nsys 2023.4 keeps payloads in this form alone. Its first line holds all strings of the report, the environment among
them: it is passed over.
"""

from __future__ import annotations

import base64
import binascii
import json
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from nsysan.ingest.nsys.nccl_entries import ENTRY_COLUMNS, payload_table
from nsysan.ingest.nsys.nccl_layouts import entries_of
from nsysan.model.nsys_payloads import ExportedPayloads
from nsysan.model.tables import ABSENT

LONGEST_LINE_BYTES = 1 << 20
"""An event takes less; what is longer holds strings and is read in pieces."""
_PAYLOAD, _EVENT = b'"BinaryData"', b'{"Type":'
_RANGE_COLUMNS = ("start_ns", "global_tid")


def begins_like_events(sample: bytes) -> bool:
    """Whether a file that begins so is such an export."""
    return sample.startswith((b'{"data":[', _EVENT)) or (b"\n" + _EVENT in sample and b"NvtxEvent" in sample)


def read_event_json(path: Path, name: str) -> ExportedPayloads:
    """The payloads of the export at ``path``, 72 bytes each. Raises OSError where it cannot be read."""
    columns = {column: array("q") for column in (*_RANGE_COLUMNS, *ENTRY_COLUMNS.values())}
    for values in _payloads(path):
        for column, kept in columns.items():
            kept.append(values.get(column, ABSENT))
    numbers = {column: np.array(kept, np.int64) for column, kept in columns.items()}
    start_ns, global_tid = (numbers.pop(column) for column in _RANGE_COLUMNS)
    return ExportedPayloads(name, payload_table(start_ns, global_tid, numbers))


def _payloads(path: Path) -> Iterator[dict[str, int]]:
    with path.open("rb") as file:
        for line in iter(lambda: file.readline(LONGEST_LINE_BYTES), b""):
            if _PAYLOAD in line and line.startswith(_EVENT):
                yield from _of_event(line)


def _of_event(line: bytes) -> Iterator[dict[str, int]]:
    """What the event's payload tells; a damaged event tells nothing."""
    try:
        event = json.loads(line)["NvtxEvent"]
        place = {"start_ns": int(event["Timestamp"]), "global_tid": int(event["GlobalTid"])}
        if not all(0 <= number < 1 << 63 for number in place.values()):
            return
        for payload in event["Payload"]["BinaryData"]:
            told = entries_of(int(payload["SchemaId"]), base64.b64decode(payload["Data"], validate=True))
            if told:
                yield place | {name: _signed(value) for name, value in told.items()}
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error):
        return


def _signed(value: int) -> int:
    """The value as 64 bits with a sign."""
    return value if value < 1 << 63 else value - (1 << 64)
