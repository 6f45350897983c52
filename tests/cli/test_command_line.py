"""What holds for every command: options of one value are given once, and an interruption is always answered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from nsysan.cli.command import Command
from nsysan.cli.main import command_line, main


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command that does something, with the words that name it."""
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name, child in command.commands.items():
        yield from leaves(child, (*path, name))


COMMANDS = dict(leaves(command_line()))
TWICE = [
    (path, max(option.opts, key=len))
    for path, command in COMMANDS.items()
    for option in command.params
    if isinstance(option, click.Option) and not (option.multiple or option.is_flag)
]


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_every_command_is_of_the_kind_that_refuses_repetition(path: tuple[str, ...]) -> None:
    assert isinstance(COMMANDS[path], Command)


@pytest.mark.parametrize(("path", "option"), TWICE)
def test_an_option_of_one_value_is_given_once(
    path: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*path, option, "1", option, "1"]) == 2
    assert capsys.readouterr().err == (
        f"nsysan: {option} is given 2 times, and takes one value.\n  Leave out all but one.\n"
    )


def test_options_of_several_values_and_flags_may_be_repeated(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "healthy", "--omit-rank", "1", "--omit-rank", "9", "--include-blobs", "--include-blobs"]) == 2
    assert "is given" not in capsys.readouterr().err


INTERRUPTED_WHILE_IMPORTING = """
import importlib.abc, os, signal, sys

class Interrupting(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
from nsysan.cli.entry import main
sys.exit(main())
"""


def test_an_interruption_while_modules_are_imported_is_answered_in_a_sentence() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_WHILE_IMPORTING], capture_output=True, text=True, check=False
    )

    assert (finished.returncode, finished.stdout) == (130, "")
    assert finished.stderr == "nsysan: Interrupted; nothing was written.\n"
