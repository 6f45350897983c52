"""The ``nsysan`` command: finds the commands, runs one, and turns errors into sentences and exit codes."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TextIO

import click

import nsysan.cli
from nsysan import __version__
from nsysan.cli.command import Group
from nsysan.cli.exit_codes import EXIT_BROKEN_PIPE, EXIT_BUG, EXIT_INTERRUPTED, EXIT_SIGNALLED, EXIT_USAGE
from nsysan.cli.outputs import StandardOutputError
from nsysan.model.errors import NsysanError
from nsysan.model.registry import discover
from nsysan.model.text import visible_text
from nsysan.output.published import keeping_record

DEBUG_VARIABLE = "NSYSAN_DEBUG"


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 0 fine, 1 a finding, 2 usage or input, 3 environment, 4 a bug, 5 could not judge."""
    with keeping_record() as published:
        return _code_of(sys.argv[1:] if argv is None else list(argv), published)


def _code_of(arguments: list[str], published: Sequence[Path]) -> int:
    try:
        with _unwinding_on_termination():
            return _run(arguments)
    except click.ClickException as error:
        with _even_unheard():
            error.show()
        return EXIT_USAGE
    except NsysanError as error:
        _complain(error.message, error.hint)
        return error.exit_code
    except (KeyboardInterrupt, click.Abort, _Terminated) as end:
        _complain(_interrupted(published), "")
        return EXIT_SIGNALLED + end.number if isinstance(end, _Terminated) else EXIT_INTERRUPTED
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        _complain(
            f"nsysan failed on a fault of its own: {type(error).__name__}: {error}",
            f"Please report it with the output of the same command after: export {DEBUG_VARIABLE}=1",
        )
        return EXIT_BUG


def _interrupted(published: Sequence[Path]) -> str:
    """What is there all the same: exports that were kept, or files that had just been finished."""
    written = ", ".join(str(path) for path in published)
    return f"Interrupted; written by then: {written}." if written else "Interrupted; nothing was written."


def _run(arguments: list[str]) -> int:
    try:
        with command_line().make_context("nsysan", arguments) as context:
            code: int | None = context.command.invoke(context)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except OSError as error:
        if error.filename is not None:
            raise
        return _give_up_output(error)
    return code or 0


def _give_up_output(error: OSError) -> int:
    """The exit code where standard output takes no more; what is left in its buffer is dropped without complaint."""
    _drop(sys.stdout)
    if isinstance(error, BrokenPipeError):
        return EXIT_BROKEN_PIPE
    raise StandardOutputError(
        f"Cannot write to standard output: {error.strerror}.", "Send it elsewhere, or make room."
    ) from error


class _Terminated(BaseException):
    """Somebody asked this process to end; like KeyboardInterrupt no error, and nothing may swallow it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def _terminate(number: int, _frame: FrameType | None) -> None:
    raise _Terminated(number)


@contextmanager
def _unwinding_on_termination() -> Iterator[None]:
    """Let SIGTERM and SIGHUP unwind the stack, so that temporary folders and half-written files go with it.

    One that is ignored, as SIGHUP is under nohup, stays so.
    """
    ending = (number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) is not signal.SIG_IGN)
    previous = {number: signal.signal(number, _terminate) for number in ending}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


def command_line() -> click.Group:
    """The group of all commands."""
    group = Group("nsysan", help="Where the time of a training job went, from Nsight Systems traces.")
    group = click.version_option(__version__, prog_name="nsysan")(group)
    for command in discover(nsysan.cli, "COMMAND", click.Command):
        group.add_command(command)
    return group


def _complain(message: str, hint: str) -> None:
    with _even_unheard():
        click.echo(f"nsysan: {visible_text(message)}", err=True)
        for line in hint.splitlines():
            click.echo(f"  {visible_text(line)}", err=True)


@contextmanager
def _even_unheard() -> Iterator[None]:
    """Go on where standard error takes no more: the exit code still says what happened."""
    try:
        yield
    except OSError:
        _drop(sys.stderr)


def _drop(stream: TextIO) -> None:
    """Send what is left in the buffer of a stream, and all that follows, nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
