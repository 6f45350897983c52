"""How to record with PyTorch's profiler: the code for a question, and what each option costs."""

from __future__ import annotations

from nsysan.ingest.nsys.recording import ALL, LAUNCHERS, TOPICS, Option, Recording
from nsysan.model.errors import UsageError
from nsysan.model.profilers import BOTH_ACTIVITIES

_USUAL = (
    Option(
        BOTH_ACTIVITIES,
        "time for every operator and CUDA call on the host, which can be felt where operators are small",
    ),
    Option("schedule=...", "nothing: until the steps asked for, little or nothing is recorded"),
)
_SHAPES = Option("record_shapes=True", "a little more time for every operator")
_MEMORY = Option("profile_memory=True", "a record for every allocation")
_STACKS = Option("with_stack=True", "a record for every Python call: large traces and a much slower host")
_OPTIONS = {
    "overlap": (),
    "idle": (_STACKS,),
    "nccl-bytes": (),
    "gemm-shapes": (_SHAPES,),
    "memory": (_MEMORY,),
    ALL: (_SHAPES, _MEMORY, _STACKS),
}
_RANKS = {
    "python": "One process: one trace. Under torchrun, which sets RANK, it is one trace a rank.",
    "torchrun": "One trace a rank: give nsysan all of them, or the folder traces. RANK is what torchrun sets.",
    "srun": "One trace a rank: give nsysan all of them, or the folder traces. SLURM_PROCID is what srun sets.",
    "mpirun": (
        "One trace a rank: give nsysan all of them, or the folder traces. OMPI_COMM_WORLD_RANK is what Open MPI sets; "
        "with MPICH it is PMI_RANK."
    ),
}
"""By launcher, how many traces there are and what tells them apart."""
_USUAL_VARIABLE = "RANK"
_NOTES = (
    "Call profiler.step() at the end of every step: it marks the steps and drives the schedule.",
    "Start the profiler after torch.distributed.init_process_group, so that rank and process groups are in the trace.",
)


def torch_recording_of(launcher: str, topic: str, steps: tuple[int, int]) -> Recording:
    """The code for the topic, or for ALL of them, under the launcher, for the steps from the first up to the last.

    Raises UsageError for a topic that this profiler cannot record, KeyError for a launcher that is not known.
    """
    if topic not in _OPTIONS:
        raise UsageError(
            f"PyTorch's profiler does not record {topic}.",
            f"Record with nsys, or choose another question: {', '.join(_OPTIONS)}.",
        )
    asked = [question for name, question in TOPICS.items() if name == topic or (topic == ALL and name in _OPTIONS)]
    options = _OPTIONS[topic]
    return Recording(
        asks=tuple(question.asks for question in asked),
        command=(),
        code=_code(LAUNCHERS[launcher].rank_variable or _USUAL_VARIABLE, steps, options),
        options=(*_USUAL, *options),
        notes=(_RANKS[launcher], *_NOTES),
    )


def _code(rank_variable: str, steps: tuple[int, int], options: tuple[Option, ...]) -> tuple[str, ...]:
    first_step, end_step = steps
    warmup = min(first_step, 1)
    schedule = f"wait={first_step - warmup}, warmup={warmup}, active={end_step - first_step}, repeat=1"
    return (
        "import os",
        "from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler",
        "",
        "with profile(",
        f"    {_USUAL[0].text},",
        f"    schedule=schedule({schedule}),",
        "    on_trace_ready=tensorboard_trace_handler(",
        f'        "traces", worker_name=f"rank{{os.environ.get(\'{rank_variable}\', 0)}}", use_gzip=True',
        "    ),",
        *(f"    {option.text}," for option in options),
        ") as profiler:",
        "    for batch in loader:",
        "        ...  # the step",
        "        profiler.step()",
    )
