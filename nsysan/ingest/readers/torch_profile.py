"""A trace of the PyTorch profiler (``.pt.trace.json``, ``.pt.trace.json.gz``), as Kineto writes it."""

from __future__ import annotations

from nsysan.ingest.reader import Candidate, Reader, ReadOptions
from nsysan.ingest.torch.opening import begins_like_a_trace
from nsysan.ingest.torch.trace import read_torch_trace
from nsysan.model.trace import Trace

_ID = "torch_profile"


def _recognise(candidate: Candidate) -> bool:
    return begins_like_a_trace(candidate.head)


def _read(candidate: Candidate, options: ReadOptions) -> Trace:
    options.tell(f"reading {candidate.shown_name}")
    return read_torch_trace(candidate, _ID, options)


READER = Reader(_ID, _recognise, _read)
