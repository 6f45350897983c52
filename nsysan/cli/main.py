"""The ``nsysan`` command: finds the commands, runs one, and turns errors into sentences and exit codes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

import click

import nsysan.cli
from nsysan import __version__
from nsysan.model.errors import NsysanError
from nsysan.model.registry import discover
from nsysan.model.text import visible_text

EXIT_USAGE = 2
EXIT_BUG = 4
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
DEBUG_VARIABLE = "NSYSAN_DEBUG"


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 fine, 1 a finding, 2 usage or input, 3 environment, 4 a bug, 5 could not judge."""
    try:
        with _unwinding_on_termination():
            return command_line().main(args=argv, prog_name="nsysan", standalone_mode=False) or 0
    except click.ClickException as error:
        error.show()
        return EXIT_USAGE
    except NsysanError as error:
        _complain(error.message, error.hint)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort, _Terminated) as end:
        _complain("Interrupted; nothing was written.", "")
        return EXIT_TERMINATED if isinstance(end, _Terminated) else EXIT_INTERRUPTED
    except BrokenPipeError:
        # the reader of our output has left: not an error, and Python must not complain while it shuts down
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        _complain(
            f"nsysan failed on a fault of its own: {type(error).__name__}: {error}",
            f"Please report it with the output of the same command after: export {DEBUG_VARIABLE}=1",
        )
        return EXIT_BUG


class _Terminated(BaseException):
    """Somebody asked this process to end; like KeyboardInterrupt no error, and nothing may swallow it."""


def _terminate(_number: int, _frame: FrameType | None) -> None:
    raise _Terminated


@contextmanager
def _unwinding_on_termination() -> Iterator[None]:
    """Let SIGTERM unwind the stack, so that temporary folders and half-written files go with it."""
    previous = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def command_line() -> click.Group:
    """The group of all commands."""
    group = click.Group("nsysan", help="Where the time of a training job went, from Nsight Systems traces.")
    group = click.version_option(__version__, prog_name="nsysan")(group)
    for command in discover(nsysan.cli, "COMMAND", click.Command):
        group.add_command(command)
    return group


def _complain(message: str, hint: str) -> None:
    click.echo(f"nsysan: {visible_text(message)}", err=True)
    for line in hint.splitlines():
        click.echo(f"  {visible_text(line)}", err=True)
