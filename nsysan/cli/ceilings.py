"""``nsysan ceilings``: files of measured ceilings, shown, put together, compared, and made from other tools' output."""

from __future__ import annotations

from pathlib import Path

import click

from nsysan.cli.command import Group
from nsysan.cli.outputs import write_all
from nsysan.cli.paths import path_argument
from nsysan.model.text import visible_text

_OUTPUT = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=path_argument,
    default="ceilings.json",
    show_default=True,
    help="Where to.",
)
_FORCE = click.option("--force", is_flag=True, help="Replace an output file that nsysan did not write.")


@click.group("ceilings", cls=Group, short_help="What machines were measured to reach.")
def ceilings_command() -> None:
    """Show, put together and compare files of measured ceilings, or make them from other tools' output."""


COMMAND = ceilings_command


@ceilings_command.command("show", short_help="What a file holds.")
@click.argument("ceilings_json", metavar="FILE", type=path_argument)
def show_command(*, ceilings_json: Path) -> None:
    """Print the best figures of each kind in FILE, and what was not measured and why."""
    from nsysan.hardware.ceilings_json import read_ceilings
    from nsysan.report.ceilings_text import render_ceilings

    click.echo(render_ceilings(read_ceilings(ceilings_json)), nl=False)


@ceilings_command.command("merge", short_help="One file from several.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=path_argument)
@_OUTPUT
@_FORCE
def merge_command(*, files: tuple[Path, ...], output: Path, force: bool) -> None:
    """Write the figures of all FILEs, of one model of GPU, into one; of a thing measured twice the later counts."""
    from nsysan.hardware.ceilings_json import encode_ceilings, read_ceilings
    from nsysan.hardware.merging import merge

    data = encode_ceilings(merge([read_ceilings(path) for path in files]))
    write_all({output: data}, force=force, inputs=files)
    click.echo(visible_text(str(output)))


@ceilings_command.command("diff", short_help="How two files differ.")
@click.argument("first", metavar="A", type=path_argument)
@click.argument("second", metavar="B", type=path_argument)
def diff_command(*, first: Path, second: Path) -> None:
    """Print the figures of A and B that are more than 2 % apart."""
    from nsysan.hardware.ceilings_json import read_ceilings
    from nsysan.hardware.merging import figures_of
    from nsysan.report.ceilings_text import render_differences

    one, other = ({figure.key: figure for figure in figures_of(read_ceilings(path))} for path in (first, second))
    click.echo(render_differences(one, other), nl=False)


@ceilings_command.command("import", short_help="From what other tools printed.")
@click.argument("outputs", metavar="OUTPUT...", nargs=-1, required=True, type=path_argument)
@click.option("--gpu", metavar="NAME", help="The GPU, where an output does not tell: 'NVIDIA H100 80GB HBM3'.")
@_OUTPUT
@_FORCE
def import_command(*, outputs: tuple[Path, ...], gpu: str | None, output: Path, force: bool) -> None:
    """Make a file of ceilings from what nccl-tests, nvbandwidth or mamf-finder printed."""
    from nsysan.hardware.ceilings_json import encode_ceilings
    from nsysan.pipeline.import_ceilings import import_ceilings

    write_all({output: encode_ceilings(import_ceilings(outputs, gpu))}, force=force, inputs=outputs)
    click.echo(visible_text(str(output)))
