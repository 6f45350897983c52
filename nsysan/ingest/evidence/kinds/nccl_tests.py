"""What nccl-tests measured."""

from __future__ import annotations

import re
from pathlib import Path

from nsysan.ingest.evidence.kind import SAMPLE_BYTES, EvidenceKind
from nsysan.ingest.nccl_tests.json_output import looks_like_json_output, read_json
from nsysan.ingest.nccl_tests.table import read_tables
from nsysan.model.evidence import EvidenceItem

_HEADING = re.compile(rb"(?:\bsize +count|\bbytes +N) +type\b[^\n]{0,120}\b(?:time|cputime) +algbw +busbw\b")
_FIRST_LINE = re.compile(rb"\bnThread \d+ nGpus \d+ minBytes \d+")


def _recognise(sample: bytes) -> bool:
    is_table = _HEADING.search(sample) is not None or _FIRST_LINE.search(sample) is not None
    return is_table or looks_like_json_output(sample)


def _read(path: Path, name: str) -> tuple[EvidenceItem, ...]:
    with path.open("rb") as file:
        is_json = looks_like_json_output(file.read(SAMPLE_BYTES))
    return (read_json(path, name),) if is_json else read_tables(path, name)


KIND = EvidenceKind("nccl_tests", "tables and JSON of nccl-tests", _recognise, _read)
