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
@click.option("--model", metavar="FILE[,KEY=VALUE...]", help="The model, as nsysan analyze takes it; FILE is sent too.")
@click.option("--ranks", metavar="FILE=RANK,...", help="The rank of each report, or of PID=RANK each process.")
@click.option("--world-size", metavar="N", type=click.IntRange(min=1), help="How many ranks the whole job has.")
@click.option("--wait", is_flag=True, help="Wait for the analysis; exit 2 with its sentence where it fails.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the address of the run.")
def upload_command(  # noqa: PLR0913 - one parameter an option
    *,
    url: str,
    files: tuple[Path, ...],
    title: str,
    project: str,
    labels: tuple[str, ...],
    model: str | None,
    ranks: str | None,
    world_size: int | None,
    wait: bool,
    quiet: bool,
) -> None:
    """Send FILEs, the reports of all ranks of one run, to the nsysan server at URL, and print where its page will be.

    Logs and a config.json of the model are known by what they hold, as they are in archives.

    What breaks off goes on where it was, also when the command is given again. A token is read from NSYSAN_TOKEN.
    """
    import os

    from nsysan.service.client import Patience, Sender

    sender = Sender(url, os.environ.get(TOKEN_VARIABLE) or None, Patience(tell=_tell))
    said = {"title": title, "project": project, "labels": "\n".join(labels)}
    said |= {"ranks": _checked_ranks(ranks), "world_size": str(world_size or "")}
    if model is not None:
        model_file, said["model"] = _checked_model(model)
        files = files if model_file in files else (*files, model_file)
    with watching(quiet=quiet) as progress:
        uploads = [sender.send(path, progress) for path in files]
        address = sender.make_run(uploads, said)
    click.echo(address)
    if wait:
        _judge(_ended(sender, address), quiet=quiet)


COMMAND = upload_command


def _checked_ranks(written: str | None) -> str:
    """The ranks as they are sent. Raises UsageError where they are none, before anything is sent."""
    if written is None:
        return ""
    from nsysan.attribution.collectives.ranks import parse_ranks

    parse_ranks(written)
    return written


def _checked_model(argument: str) -> tuple[Path, str]:
    """The model's file, and what is said of it. Raises InputError where it describes none, before anything is sent."""
    from nsysan.pipeline.model_file import model_path, read_model

    read_model(argument)
    path = model_path(argument)
    _, comma, keys = argument.partition(",")
    return path, f"{path.name}{comma}{keys}"


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
