"""``nsysan calibrate``: what this machine reaches, measured, into a ``ceilings.json``."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path

import click

from nsysan.cli.outputs import write_all
from nsysan.cli.paths import path_argument
from nsysan.model.errors import UsageError
from nsysan.model.text import visible_text


@click.command("calibrate", short_help="Measure what this machine reaches.")
@click.option("--simulate", metavar="NAME", help="Measure nothing: take the data sheet of this GPU, marked as such.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=path_argument,
    default="ceilings.json",
    show_default=True,
    help="Where to.",
)
@click.option("--force", is_flag=True, help="Replace an output file that nsysan did not write.")
def calibrate_command(*, simulate: str | None, output: Path, force: bool) -> None:
    """Measure matrix products, memory, links, launches and collectives of this machine's GPUs."""
    from nsysan.hardware.ceilings_json import encode_ceilings
    from nsysan.hardware.simulated import simulate as simulated

    if simulate is None:
        raise UsageError("Only --simulate works as yet.")
    ceilings = simulated(simulate, datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"))
    write_all({output: encode_ceilings(ceilings)}, force=force, inputs=())
    click.echo(visible_text(str(output)))


COMMAND = calibrate_command
