"""``nsysan info``: what a report holds and what it cannot answer, or what this nsysan can work with."""

from __future__ import annotations

from pathlib import Path

import click

from nsysan.cli.command import Command
from nsysan.cli.outputs import print_result
from nsysan.cli.paths import path_argument
from nsysan.model.errors import UsageError


@click.command("info", cls=Command, short_help="What a report holds, and what it cannot answer.")
@click.argument("report", required=False, type=path_argument)
@click.option("--self", "of_self", is_flag=True, help="What this nsysan can work with, instead.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--full", is_flag=True, help="Count a large export too, which may take minutes.")
@click.option("--nsys", metavar="PATH", help="The nsys for .nsys-rep files [default: NSYSAN_NSYS, then the newest].")
@click.option("--keep-identity", is_flag=True, help="Show host, user, command line, path and process names.")
def info_command(  # noqa: PLR0913 - one parameter an option
    *, report: Path | None, of_self: bool, as_json: bool, full: bool, nsys: str | None, keep_identity: bool
) -> None:
    """Say what REPORT holds, what it cannot answer, and what would have recorded that."""
    if of_self == (report is not None):
        raise UsageError("nsysan info takes a report, or --self.", "Give one of the two: nsysan info REPORT")
    if of_self and (keep_identity or full):
        option = "--keep-identity" if keep_identity else "--full"
        raise UsageError(f"{option} is about a report.", "Leave it out: --self tells of this nsysan alone.")
    from nsysan.pipeline.info import InfoOptions, inspect_installation, inspect_report
    from nsysan.report.contents_text import render_contents
    from nsysan.report.installation_text import render_installation

    if report is None:
        installation = inspect_installation(nsys)
        print_result(_json(installation) if as_json else render_installation(installation))
        return
    contents = inspect_report(report, InfoOptions(nsys=nsys, keep_identity=keep_identity, counts_all=full))
    print_result(_json(contents) if as_json else render_contents(contents))


COMMAND = info_command


def _json(document: object) -> bytes:
    import msgspec

    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"
