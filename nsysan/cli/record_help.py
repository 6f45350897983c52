"""``nsysan record-help``: the ``nsys profile`` line, or the use of PyTorch's profiler, to record with."""

from __future__ import annotations

import re

import click

from nsysan.cli.command import Command
from nsysan.cli.outputs import print_result
from nsysan.ingest.nsys.recording import ALL, LAUNCHERS, TOPICS, recording_of
from nsysan.ingest.torch.recording import torch_recording_of

_STEPS = re.compile(r"(\d{1,9}):(\d{1,9})", re.ASCII)


def _steps(spelling: str) -> tuple[int, int]:
    match = _STEPS.fullmatch(spelling)
    if match is None or int(match[1]) >= int(match[2]):
        raise click.BadParameter(f"{spelling!r} are no steps; 10:15 records the steps 10 to 14.")
    return int(match[1]), int(match[2])


@click.command("record-help", cls=Command, short_help="The nsys profile line to record with.")
@click.option("--profiler", type=click.Choice(("nsys", "torch")), default="nsys", show_default=True)
@click.option(
    "--launcher",
    type=click.Choice(tuple(LAUNCHERS)),
    default="python",
    help="What starts the ranks.",
    show_default=True,
)
@click.option("--question", type=click.Choice((*TOPICS, ALL)), default="overlap", show_default=True)
@click.option("--steps", metavar="A:B", type=_steps, default="10:15", show_default=True, help="Record A up to B.")
def record_help_command(*, profiler: str, launcher: str, question: str, steps: tuple[int, int]) -> None:
    """Print the nsys profile line that answers a question, the code it needs, and what each option costs.

    With --profiler torch it is the code that records with PyTorch's own profiler.
    """
    from nsysan.report.recording_text import render_recording

    is_torch = profiler == "torch"
    recording = torch_recording_of(launcher, question, steps) if is_torch else recording_of(launcher, question, steps)
    print_result(render_recording(recording))


COMMAND = record_help_command
