"""What a trace of PyTorch's profiler must hold to answer a question, and what would have recorded it.

The questions are those that are put to reports of nsys. Those that no option of this profiler answers, such as waits
in the operating system, are left out.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from nsysan.ingest.nsys.questions import QUESTIONS
from nsysan.ingest.torch.events import PYTHON_FRAMES
from nsysan.ingest.trace_survey import holds_timed_work
from nsysan.model.contents import OpenQuestion
from nsysan.model.profilers import BOTH_ACTIVITIES
from nsysan.model.tables import ABSENT
from nsysan.model.trace import Trace

_ASKED = {question.id: question.question for question in QUESTIONS}
_STEP = "ProfilerStep#"
_SHAPES = ", sizes = ["


class Recorded(msgspec.Struct, frozen=True):
    """A trace, and which kinds of events its file has beside those that are read."""

    trace: Trace
    other_kinds: frozenset[str]

    def holds(self, table: str) -> bool:
        """Whether there is a record in the table of this name."""
        found = getattr(self.trace, table)
        return found is not None and len(found) > 0

    def names(self, part: str) -> bool:
        """Whether the name of anything recorded holds ``part``."""
        return any(part in text for text in self.trace.strings.values())


class TorchQuestion(msgspec.Struct, frozen=True):
    """Answered where ``is_answered`` says so; put only to a trace of which ``is_raised`` says so."""

    id: str
    is_answered: Callable[[Recorded], bool]
    lacking: str
    recapture: str
    is_raised: Callable[[Recorded], bool] = lambda _recorded: True


TORCH_QUESTIONS = (
    TorchQuestion("gpu_time", lambda recorded: bool(recorded.trace.gpu_tables()), "GPU work", BOTH_ACTIVITIES),
    TorchQuestion(
        "kernels",
        lambda recorded: holds_timed_work(recorded.trace, "kernels"),
        "kernels that can be counted",
        f"{BOTH_ACTIVITIES}, stopped before the process exits",
        lambda recorded: recorded.holds("kernels") or recorded.names("LaunchKernel"),
    ),
    TorchQuestion(
        "ranges",
        lambda recorded: recorded.names(_STEP),
        "training steps",
        "schedule=schedule(wait=..., warmup=1, active=...) and profiler.step() at the end of each step",
    ),
    TorchQuestion("idle_causes", lambda recorded: recorded.holds("runtime_calls"), "CUDA calls", BOTH_ACTIVITIES),
    TorchQuestion(
        "cpu_samples", lambda recorded: PYTHON_FRAMES in recorded.other_kinds, "Python frames", "with_stack=True"
    ),
    TorchQuestion(
        "memory", lambda recorded: recorded.holds("allocator_states"), "memory events", "profile_memory=True"
    ),
    TorchQuestion(
        "nccl_bytes",
        lambda recorded: _has_bytes(recorded.trace),
        "sizes of collectives",
        f"{BOTH_ACTIVITIES} in a PyTorch that notes what its collectives move (record_param_comms with arguments)",
        lambda recorded: recorded.names("nccl"),
    ),
    TorchQuestion(
        "gemm_shapes",
        lambda recorded: recorded.names(_SHAPES),
        "operators with shapes",
        "record_shapes=True",
        lambda recorded: recorded.holds("kernels"),
    ),
    TorchQuestion(
        "communicators",
        lambda recorded: bool(recorded.trace.process_groups),
        "process groups",
        "a profiler that starts after torch.distributed.init_process_group",
        lambda recorded: recorded.names("nccl"),
    ),
    TorchQuestion(
        "gpu_identity",
        lambda recorded: any(gpu.name for gpu in recorded.trace.gpus),
        "name of a GPU",
        f"{BOTH_ACTIVITIES} in a newer PyTorch",
    ),
)


def open_questions(recorded: Recorded) -> tuple[OpenQuestion, ...]:
    """The questions that the trace does not answer, and why; one that nothing raises is not among them."""
    return tuple(
        OpenQuestion(question.id, _ASKED[question.id], f"it holds no {question.lacking}", question.recapture)
        for question in TORCH_QUESTIONS
        if question.is_raised(recorded) and not question.is_answered(recorded)
    )


def _has_bytes(trace: Trace) -> bool:
    calls = trace.collective_calls
    return calls is not None and bool(np.any(calls.size_bytes != ABSENT))
