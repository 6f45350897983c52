"""``nsysan token``: who may come in to a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from nsysan.cli.command import Group
from nsysan.cli.paths import path_argument
from nsysan.model.errors import UsageError
from nsysan.model.text import display_text, visible_text
from nsysan.service.people import Person, Role

if TYPE_CHECKING:
    from nsysan.service.access import Access

DAY_S = 24 * 3600.0
data_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--data", metavar="DIR", type=path_argument, required=True, help="The folder of the server."
)


@click.group("token", cls=Group, short_help="Say who may come in to a server.")
def token_command() -> None:
    """Make, list and revoke the tokens of a server, which may be running meanwhile."""


COMMAND = token_command


@token_command.command("add", short_help="Make a token.")
@click.argument("name")
@data_option
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.READER.value,
    show_default=True,
    help="What it allows.",
)
@click.option("--team", default="main", show_default=True, help="Whose runs it shows, and whose new ones become.")
@click.option("--days", type=click.IntRange(1), help="For how long [default: until it is revoked].")
def add_command(*, name: str, data: Path, role: str, team: str, days: int | None) -> None:
    """Make a token for NAME and print it, this once.

    A reader reads the runs of the team; an uploader uploads, shares and deletes as well; an admin sees every team.
    """
    with _access(data, is_made=True) as access:
        secret = access.add_token(
            Person(display_text(name), display_text(team), Role(role)), None if days is None else days * DAY_S
        )
    click.echo(secret)


@token_command.command("list", short_help="List tokens.")
@data_option
def list_command(*, data: Path) -> None:
    """List who has a token, never the tokens themselves, of which nothing but hashes is kept."""
    from nsysan.service.clock import shown_utc

    with _access(data) as access:
        for token in access.tokens():
            until = "until it is revoked" if token.expires_utc is None else f"until {shown_utc(token.expires_utc)}"
            used = "never used" if token.used_utc is None else f"last used {shown_utc(token.used_utc)}"
            click.echo(f"{token.name}  {token.role.value} of team {token.team}, {until}, {used}")


@token_command.command("revoke", short_help="Revoke a token.")
@click.argument("name")
@data_option
def revoke_command(*, name: str, data: Path) -> None:
    """Let nobody in with the token of NAME any more, nor go on with sessions begun with it."""
    with _access(data) as access:
        access.revoke_token(display_text(name))


@contextmanager
def _access(data: Path, *, is_made: bool = False) -> Iterator[Access]:
    """Who may come in to the server of a folder, which is made or must be there. Raises UsageError where it is not."""
    from nsysan.service.access import Access
    from nsysan.service.folder import DataFolder
    from nsysan.service.ledger import Ledger

    folder = DataFolder(data)
    if is_made:
        folder.make()
    elif not folder.ledger.is_file():
        raise UsageError(
            f"{visible_text(str(data))} is no folder of a server.", "Name that of nsysan serve with --data."
        )
    ledger = Ledger(folder.ledger)
    try:
        yield Access(ledger)
    finally:
        ledger.close()
