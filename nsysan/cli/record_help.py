"""``nsysan record-help``: the ``nsys profile`` line to use."""

from __future__ import annotations

import re

import click

from nsysan.ingest.nsys.recording import ALL, LAUNCHERS, TOPICS, recording_of

_STEPS = re.compile(r"(\d{1,9}):(\d{1,9})", re.ASCII)


def _steps(spelling: str) -> tuple[int, int]:
    match = _STEPS.fullmatch(spelling)
    if match is None or int(match[1]) >= int(match[2]):
        raise click.BadParameter(f"{spelling!r} are no steps; 10:15 records the steps 10 to 14.")
    return int(match[1]), int(match[2])


@click.command("record-help", short_help="The nsys profile line to record with.")
@click.option("--launcher", type=click.Choice(tuple(LAUNCHERS)), default="python", show_default=True)
@click.option("--question", type=click.Choice((*TOPICS, ALL)), default="overlap", show_default=True)
@click.option("--steps", metavar="A:B", type=_steps, default="10:15", show_default=True, help="Record A up to B.")
def record_help_command(*, launcher: str, question: str, steps: tuple[int, int]) -> None:
    """Print the nsys profile line that answers a question, the code it needs, and what each option costs."""
    from nsysan.report.recording_text import render_recording

    click.echo(render_recording(recording_of(launcher, question, steps)), nl=False)


COMMAND = record_help_command
