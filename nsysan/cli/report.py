"""``nsysan report``: draws a saved run again, with no trace at hand."""

from __future__ import annotations

from pathlib import Path

import click

from nsysan.cli.command import Command
from nsysan.cli.outputs import print_result, write_all
from nsysan.cli.paths import path_argument
from nsysan.model.errors import InputError
from nsysan.model.text import visible_text
from nsysan.report.renderers import renderer_ids


@click.command("report", cls=Command, short_help="Draw a saved run.json again.")
@click.argument("run_json", type=path_argument)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=path_argument,
    help="Where to [default: RUN_JSON.nsysan.html in this folder].",
)
@click.option("--format", "format_id", type=click.Choice(renderer_ids()), default="html", show_default=True)
@click.option("--force", is_flag=True, help="Replace an output file that nsysan did not write.")
def report_command(*, run_json: Path, output: Path | None, format_id: str, force: bool) -> None:
    """Draw RUN_JSON as a page, or as a text on standard output."""
    from nsysan.pipeline.saved_run import MAKE_IT, load_run
    from nsysan.report.renderers import renderers

    renderer, run = renderers()[format_id], load_run(run_json)
    try:
        drawn = renderer.render(run)
    except (LookupError, ValueError, ArithmeticError) as error:
        # every run that nsysan wrote can be drawn, so this one was changed and its parts no longer fit each other
        name = visible_text(str(run_json))
        raise InputError(f"{name} contradicts itself: {type(error).__name__}.", MAKE_IT) from error
    if output is None and format_id == "text":
        print_result(drawn)
        return
    target = output or Path(f"{run_json.absolute().stem}.nsysan{renderer.suffix}")
    write_all({target: drawn.encode("utf-8")}, force=force, inputs=[run_json])
    click.echo(visible_text(str(target)))


COMMAND = report_command
