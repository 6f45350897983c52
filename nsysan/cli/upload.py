"""``nsysan upload``: the reports of a run go to a server."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsysan.cli.command import Command
from nsysan.cli.paths import path_argument
from nsysan.cli.progress_line import watching
from nsysan.model.errors import InputError
from nsysan.model.text import visible_text

if TYPE_CHECKING:
    from nsysan.service.client import Sender

TOKEN_VARIABLE = "NSYSAN_TOKEN"  # noqa: S105 - the name of a variable
_LOOK_S = 1.0


@click.command("upload", cls=Command, short_help="Send the reports of a run to a server.")
@click.argument("url")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=path_argument)
@click.option("--title", default="", help="What to call the run [default: the first file's name].")
@click.option("--project", default="", help="What it belongs to.")
@click.option("--label", "labels", metavar="TEXT", multiple=True, help="Something to find it by; may be repeated.")
@click.option("--wait", is_flag=True, help="Wait for the analysis; exit 2 with its sentence where it fails.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the address of the run.")
def upload_command(  # noqa: PLR0913 - one parameter an option
    *, url: str, files: tuple[Path, ...], title: str, project: str, labels: tuple[str, ...], wait: bool, quiet: bool
) -> None:
    """Send FILEs, the reports of all ranks of one run, to the nsysan server at URL, and print where its page will be.

    What breaks off goes on where it was, also when the command is given again. A token is read from NSYSAN_TOKEN.
    """
    import os

    from nsysan.service.client import Patience, Sender

    sender = Sender(url, os.environ.get(TOKEN_VARIABLE) or None, Patience(tell=_tell))
    with watching(quiet=quiet) as progress:
        uploads = [sender.send(path, progress) for path in files]
        address = sender.make_run(uploads, {"title": title, "project": project, "labels": "\n".join(labels)})
    click.echo(address)
    if wait:
        _judge(_ended(sender, address), quiet=quiet)


COMMAND = upload_command


def _tell(sentence: str) -> None:
    click.echo(f"nsysan: {sentence}", err=True)


def _ended(sender: Sender, address: str) -> dict[str, Any]:
    """How the run stands once it goes on by itself no more."""
    while (run := sender.state_of(address))["state"] in ("queued", "running"):
        time.sleep(_LOOK_S)
    return run


def _judge(run: dict[str, Any], *, quiet: bool) -> None:
    if run["state"] != "done":
        raise InputError(str(run["failure"] or "The analysis was cancelled."), str(run["hint"] or ""))
    if not quiet:
        click.echo(visible_text(str(run["sentence"])))
