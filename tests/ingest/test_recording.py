"""The line to record with: every launcher with every question, and every option known to the nsys it is for."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import textwrap
from typing import TYPE_CHECKING

import pytest

from nsysan.ingest.nsys.questions import QUESTIONS
from nsysan.ingest.nsys.recording import ALL, LAUNCHERS, TOPICS, recording_of
from nsysan.ingest.torch.recording import torch_recording_of
from nsysan.model.errors import UsageError
from nsysan.report.recording_text import WIDTH, render_recording
from tests.nsys import find_nsys

if TYPE_CHECKING:
    from collections.abc import Iterable

STEPS = (10, 15)
BEFORE = {
    "python": [],
    "torchrun": ["torchrun", "--nproc-per-node=gpu", "--no-python"],
    "srun": ["srun"],
    "mpirun": ["mpirun", "-np", "8"],
}
OUTPUTS = {
    "python": "report",
    "torchrun": "report_%q{RANK}",
    "srun": "report_%q{SLURM_PROCID}",
    "mpirun": "report_%q{OMPI_COMM_WORLD_RANK}",
}
RANGE = ["--capture-range=cudaProfilerApi", "--capture-range-end=stop", "--sample=none"]
OPTIONS = {
    "overlap": ["-t", "cuda,nvtx", *RANGE, "--cpuctxsw=none", "--cuda-graph-trace=node"],
    "idle": ["-t", "cuda,nvtx,osrt", *RANGE, "--cpuctxsw=process-tree"],
    "nccl-bytes": ["-t", "cuda,nvtx", *RANGE, "--cpuctxsw=none"],
    "gemm-shapes": ["-t", "cuda,nvtx", *RANGE, "--cpuctxsw=none"],
    "memory": ["-t", "cuda,nvtx", *RANGE, "--cpuctxsw=none", "--cuda-memory-usage=true"],
    "gpu-metrics": ["-t", "cuda,nvtx", *RANGE, "--cpuctxsw=none", "--gpu-metrics-devices=all"],
    ALL: [
        *("-t", "cuda,nvtx,osrt", *RANGE, "--cuda-graph-trace=node", "--cpuctxsw=process-tree"),
        *("--cuda-memory-usage=true", "--gpu-metrics-devices=all"),
    ],
}
NEWER_THAN_2023_4 = {"--gpu-metrics-devices", "--pytorch", "--include-blobs"}
"""Options that the questions and the lines name with a word about the nsys that has them."""


def test_every_launcher_and_question_is_tested_here() -> None:
    assert (set(LAUNCHERS), {*TOPICS, ALL}) == (set(BEFORE), set(OPTIONS))


@pytest.mark.parametrize("launcher", BEFORE)
@pytest.mark.parametrize("topic", OPTIONS)
def test_the_line_as_a_shell_takes_it(launcher: str, topic: str) -> None:
    text = render_recording(recording_of(launcher, topic, STEPS))
    line = re.search(r"Run:\n(.*?)\n\n", text, re.DOTALL)
    assert line is not None

    words = shlex.split(line[1].replace("\\\n", " "))

    command = [*BEFORE[launcher], "nsys", "profile", *OPTIONS[topic], "-o", OUTPUTS[launcher], "python", "train.py"]
    assert words == command
    assert all(len(row) <= WIDTH for row in text.splitlines())


@pytest.mark.parametrize("topic", OPTIONS)
def test_what_each_option_costs_is_said(topic: str) -> None:
    recording = recording_of("python", topic, STEPS)

    priced = [option.text for option in recording.options]
    traces, *others = (piece for piece in recording.command if piece.startswith("-") and not piece.startswith("-o"))
    assert priced == [*(f"-t {trace}" for trace in traces.removeprefix("-t ").split(",")), *others]
    assert all(option.cost for option in recording.options)


@pytest.mark.parametrize("topic", OPTIONS)
def test_the_steps_are_between_two_lines_of_python(topic: str) -> None:
    first, second, *others = recording_of("python", topic, (100, 103)).code

    assert (first, second) == (
        "if step == 100: torch.cuda.profiler.start()",
        "if step == 103: torch.cuda.synchronize(); torch.cuda.profiler.stop()",
    )
    for code in (first, second, *(f"{line}\n  pass" for line in others)):
        compile(code, "train.py", "exec")


def test_shapes_come_from_the_program() -> None:
    recording = recording_of("python", "gemm-shapes", STEPS)

    assert any("emit_nvtx(record_shapes=True)" in line for line in recording.code)
    assert any("--pytorch=autograd-shapes-nvtx" in note and "2024.7" in note for note in recording.notes)


def test_what_only_a_newer_nsys_has_says_so() -> None:
    recording = recording_of("python", ALL, STEPS)

    newer = [option for option in recording.options if option.text.partition("=")[0] in NEWER_THAN_2023_4]
    assert [option.text for option in newer] == ["--gpu-metrics-devices=all"]
    assert all("2023.4" in (option.since or "") for option in newer)
    assert [option for option in recording.options if option.since and option not in newer] == []


@pytest.mark.nsys
@pytest.mark.parametrize("topic", OPTIONS)
def test_a_real_nsys_takes_every_other_option_with_its_value(topic: str) -> None:
    command = recording_of("python", topic, STEPS).command
    words = [word for piece in command[1:-1] for word in shlex.split(piece)]

    assert not _refuses(word for word in words if word.partition("=")[0] not in NEWER_THAN_2023_4)


@pytest.mark.nsys
def test_a_real_nsys_takes_what_the_questions_name() -> None:
    named = {
        name for question in QUESTIONS for name in re.findall(r"--[a-z-]+=[\w-]+|-t [a-z]+", question.recapture)
    } - {"--include-blobs=true"}  # an option of nsys export

    refused = {name for name in named if _refuses(shlex.split(name))}

    # the option is known to 2023.4, but there must be a GPU for it
    refused.discard("--gpu-metrics-device=all")
    newer = {"-t nccl", "--gpu-metrics-devices=all", "--pytorch=autograd-shapes-nvtx", "--nic-metrics=lf"}
    assert refused == newer


def _refuses(options: Iterable[str]) -> bool:
    """Whether nsys 2023.4 has something against the options: it looks at them before it looks for the program."""
    command = [find_nsys(), "profile", *options, "/no/such/program"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    return "Illegal" in said or "unrecognised option" in said


TORCH_OPTIONS = {
    "overlap": (),
    "idle": ("with_stack=True",),
    "nccl-bytes": (),
    "gemm-shapes": ("record_shapes=True",),
    "memory": ("profile_memory=True",),
    ALL: ("record_shapes=True", "profile_memory=True", "with_stack=True"),
}


@pytest.mark.parametrize("topic", TORCH_OPTIONS)
@pytest.mark.parametrize(
    ("steps", "schedule"),
    [((10, 15), "wait=9, warmup=1, active=5, repeat=1"), ((0, 3), "wait=0, warmup=0, active=3, repeat=1")],
)
def test_the_code_for_the_profiler_of_pytorch(topic: str, steps: tuple[int, int], schedule: str) -> None:
    text = render_recording(torch_recording_of("torchrun", topic, steps))

    code = textwrap.dedent(text.partition("steady steps:\n")[2].partition("\n\nWhat it costs")[0])
    (call,) = (node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call) and called(node) == "profile")
    given = [ast.unparse(keyword) for keyword in call.keywords]
    both = "activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]"
    assert [given[0], given[1], *given[3:]] == [both, f"schedule=schedule({schedule})", *TORCH_OPTIONS[topic]]
    assert given[2].startswith("on_trace_ready=tensorboard_trace_handler('traces', worker_name=")
    assert [option for option in TORCH_OPTIONS[topic] if f"\n  {option}: " not in text] == []
    assert "nsys profile" not in text
    assert max(map(len, text.splitlines())) <= WIDTH


@pytest.mark.parametrize(
    ("launcher", "variable"),
    [("python", "RANK"), ("torchrun", "RANK"), ("srun", "SLURM_PROCID"), ("mpirun", "OMPI_COMM_WORLD_RANK")],
)
def test_a_trace_is_named_by_the_rank_that_its_launcher_tells(launcher: str, variable: str) -> None:
    recording = torch_recording_of(launcher, "overlap", STEPS)

    assert [line.strip() for line in recording.code if "worker_name" in line] == [
        f"""\"traces\", worker_name=f"rank{{os.environ.get('{variable}', 0)}}", use_gzip=True"""
    ]
    assert [f" {other} " in recording.notes[0] for other in ("SLURM_PROCID", "OMPI_COMM_WORLD_RANK")] == [
        launcher == "srun",
        launcher == "mpirun",
    ]
    assert max(map(len, render_recording(recording).splitlines())) <= WIDTH


def called(call: ast.Call) -> str:
    return ast.unparse(call.func)


def test_what_the_profiler_of_pytorch_does_not_record() -> None:
    with pytest.raises(UsageError, match="does not record gpu-metrics"):
        torch_recording_of("python", "gpu-metrics", STEPS)

    assert {*TOPICS, ALL} == {*TORCH_OPTIONS, "gpu-metrics"}
