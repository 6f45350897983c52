"""A trace of the PyTorch profiler (``.pt.trace.json``, ``.pt.trace.json.gz``), as Kineto writes it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from nsysan.ingest.reader import Candidate, Reader, ReadOptions
from nsysan.ingest.torch.opening import begins_like_a_trace
from nsysan.ingest.torch.questions import Recorded, open_questions
from nsysan.ingest.torch.trace import read_torch_trace
from nsysan.ingest.trace_survey import contents_of
from nsysan.model.contents import Contents
from nsysan.model.details import Detail
from nsysan.model.trace import Trace

_ID = "torch_profile"
_OF_HOST = ("runtime_calls", "nvtx_ranges", "collective_calls")
_OF_DETAIL = {
    Detail.KERNEL_SHAPES: ("kernel_shapes", "kernel_dimensions"),
    Detail.MEMORY: ("allocator_states",),
}
"""What is left out where it is not asked for, by field of the trace."""


def _recognise(candidate: Candidate) -> bool:
    return begins_like_a_trace(candidate.head)


def _recorded(candidate: Candidate, options: ReadOptions) -> Recorded:
    options.progress.begin(f"reading {candidate.shown_name}")
    return read_torch_trace(candidate, _ID, options)


def _read(candidate: Candidate, options: ReadOptions) -> Trace:
    trace = _recorded(candidate, options).trace
    left_out: dict[str, Any] = dict.fromkeys(() if options.with_host else _OF_HOST)
    for detail, names in _OF_DETAIL.items():
        left_out |= {} if detail in options.details else dict.fromkeys(names)
    return replace(trace, **left_out) if left_out else trace


def _survey(candidate: Candidate, options: ReadOptions) -> Contents:
    recorded = _recorded(candidate, options)
    return contents_of(recorded.trace, open_questions(recorded))


READER = Reader(_ID, _recognise, _read, survey=_survey)
