"""How to record: the ``nsys profile`` line for a launcher and a question, and what each option costs.

Options are those of nsys 2023.4 unless ``since`` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import msgspec

ALL = "all"

Entry = TypeVar("Entry")


class Launcher(msgspec.Struct, frozen=True):
    """What starts the ranks: the words before ``nsys profile``, and the variable that tells a process its rank.

    Only python starts one process: ``rank_variable`` is null.
    """

    before: str
    rank_variable: str | None
    note: str

    @property
    def output(self) -> str:
        """The name of a rank's report, as nsys takes it."""
        return "report" if self.rank_variable is None else f"report_%q{{{self.rank_variable}}}"


class Option(msgspec.Struct, frozen=True):
    """One option of ``nsys profile``, its cost in a sentence, and the nsys that brought it where 2023.4 lacks it."""

    text: str
    cost: str
    since: str | None = None


class Topic(msgspec.Struct, frozen=True):
    """A question to record for: the APIs to trace, options beyond the usual ones, code lines, and what to know."""

    asks: str
    traces: tuple[str, ...]
    options: tuple[Option, ...] = ()
    code: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class Recording(msgspec.Struct, frozen=True):
    """For these questions: a command line in pieces, one a line, the code it needs, and what to know about it.

    There is no command line where a program profiles itself.
    """

    asks: tuple[str, ...]
    command: tuple[str, ...]
    code: tuple[str, ...]
    options: tuple[Option, ...]
    """The options of the command, each traced API as one of its own."""
    notes: tuple[str, ...]


LAUNCHERS = {
    "python": Launcher("", None, "One process: one report."),
    "torchrun": Launcher(
        "torchrun --nproc-per-node=gpu --no-python",
        "RANK",
        "torchrun starts one nsys a rank and sets RANK for it: one report a rank.",
    ),
    "srun": Launcher(
        "srun",
        "SLURM_PROCID",
        "srun starts one nsys a task and sets SLURM_PROCID for it: one report a rank.",
    ),
    "mpirun": Launcher(
        "mpirun -np 8",
        "OMPI_COMM_WORLD_RANK",
        "mpirun starts one nsys a rank: one report each. The variable is Open MPI's; with MPICH it is PMI_RANK.",
    ),
}

_TRACE_COSTS = {
    "cuda": "a little time for every CUDA call, and GPU memory for the records",
    "nvtx": "next to nothing for a range; thousands of them a step add up",
    "osrt": "a record for every operating system call over a microsecond, from every thread: large reports",
}
_CAPTURE = (
    Option("--capture-range=cudaProfilerApi", "nothing: until the first line in the program runs, nothing is recorded"),
    Option("--capture-range-end=stop", "nothing: after the second line the job runs on unrecorded"),
)
_NO_SAMPLES = Option("--sample=none", "nothing: it switches off CPU samples, which slow the host down")
_NO_SWITCHES = Option("--cpuctxsw=none", "nothing: it switches off the record of context switches")
_SWITCHES = Option("--cpuctxsw=process-tree", "a record for every context switch of the job; needs perf_event access")
_GRAPH_NODES = Option(
    "--cuda-graph-trace=node", "nothing without CUDA graphs; with them much, so compare the step time with and without"
)
_MEMORY = Option("--cuda-memory-usage=true", "a record for every allocation, which can slow the job down much")
_METRICS = Option(
    "--gpu-metrics-devices=all",
    "little GPU time; needs permission to read the GPUs' counters",
    since="so in newer releases; nsys 2023.4 calls it --gpu-metrics-device=all",
)
_ONE_SAMPLER = (
    "A GPU's metrics go to one nsys at a time: with several ranks on a node, start one of them with this option "
    "and the others without it."
)

_NCCL_EXPORT = (
    "NCCL 2.16 and newer write sizes into their NVTX ranges. Give nsysan the .nsys-rep and an nsys newer than 2023.4, "
    "or export with it: nsys export -t sqlite --include-blobs=true REPORT."
)
_NCCL_START = (
    "NCCL tells rank and size of a communicator when it makes it, before the first step. To have them, leave out both "
    "--capture-range options and keep the job short."
)
_NCCL_TRACE = (
    "With nsys 2025.6.1 and NCCL 2.28 or newer, -t cuda,nvtx,nccl records more, in place of those ranges. It needs a "
    "newer nsys for the export as well, with --include-json=true."
)
_EMIT_NVTX_COST = (
    "emit_nvtx opens a range for every operator, which slows the host down much: take shapes from such a report, never "
    "times."
)
_EMIT_NVTX_OPTION = (
    "In newer releases of nsys (2024.7 has it) --pytorch=autograd-shapes-nvtx does the same without a change of the "
    "code."
)

TOPICS = {
    "overlap": Topic(
        "How much communication is hidden under computing?", traces=("cuda", "nvtx"), options=(_GRAPH_NODES,)
    ),
    "idle": Topic("What do the GPUs wait for?", traces=("cuda", "nvtx", "osrt"), options=(_SWITCHES,)),
    "nccl-bytes": Topic(
        "How many bytes does each NCCL call move?",
        traces=("cuda", "nvtx"),
        notes=(_NCCL_EXPORT, _NCCL_START, _NCCL_TRACE),
    ),
    "gemm-shapes": Topic(
        "What shapes do the matrix products have?",
        traces=("cuda", "nvtx"),
        code=("with torch.autograd.profiler.emit_nvtx(record_shapes=True):  # around the training loop",),
        notes=(_EMIT_NVTX_COST, _EMIT_NVTX_OPTION),
    ),
    "memory": Topic("How much GPU memory is taken, and when?", traces=("cuda", "nvtx"), options=(_MEMORY,)),
    "gpu-metrics": Topic(
        "How busy are SMs, tensor cores and DRAM?",
        traces=("cuda", "nvtx"),
        options=(_METRICS,),
        notes=(_ONE_SAMPLER,),
    ),
}


def recording_of(launcher: str, topic: str, steps: tuple[int, int]) -> Recording:
    """The line for the topic, or for ALL of them, under the launcher, for the steps from the first up to the last.

    Raises KeyError for a launcher or topic that is not in this module.
    """
    topics = tuple(TOPICS.values()) if topic == ALL else (TOPICS[topic],)
    start = LAUNCHERS[launcher]
    traces = _once(trace for each in topics for trace in each.traces)
    options = (*_CAPTURE, *_usual(topics), *_once(option for each in topics for option in each.options))
    pieces = (f"-t {','.join(traces)}", *(option.text for option in options), f"-o {start.output}", "python train.py")
    return Recording(
        asks=tuple(each.asks for each in topics),
        command=(f"{start.before} nsys profile".strip(), *pieces),
        code=(*_capture_code(*steps), *(line for each in topics for line in each.code)),
        options=(*(Option(f"-t {trace}", _TRACE_COSTS[trace]) for trace in traces), *options),
        notes=(start.note, *(note for each in topics for note in each.notes)),
    )


def _usual(topics: Sequence[Topic]) -> tuple[Option, ...]:
    switches_wanted = any(_SWITCHES in topic.options for topic in topics)
    return (_NO_SAMPLES,) if switches_wanted else (_NO_SAMPLES, _NO_SWITCHES)


def _capture_code(first_step: int, end_step: int) -> tuple[str, str]:
    return (
        f"if step == {first_step}: torch.cuda.profiler.start()",
        f"if step == {end_step}: torch.cuda.synchronize(); torch.cuda.profiler.stop()",
    )


def _once(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    return tuple(dict.fromkeys(entries))
