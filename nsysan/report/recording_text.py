"""How to record, as a text to copy from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

from nsysan.ingest.nsys.recording import Option, Recording

WIDTH = 100


def render_recording(recording: Recording) -> str:
    """The command line if there is one, the code it needs, what each option costs, and what to know."""
    run = ["", "Run:", *_command_lines(recording.command)] if recording.command else []
    blocks = (
        [*recording.asks, *run],
        ["In the program, around some steady steps:", *(f"  {line}".rstrip() for line in recording.code)],
        ["What it costs:", *(line for option in recording.options for line in _cost_lines(option))],
        ["To know:", *(line for note in recording.notes for line in _wrapped(f"- {note}", "  "))],
    )
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _command_lines(pieces: Iterable[str]) -> list[str]:
    r"""The pieces one a line, each but the last with the ``\`` that makes a shell read on."""
    return textwrap.indent(" \\\n  ".join(pieces), "  ").splitlines()


def _cost_lines(option: Option) -> list[str]:
    since = "" if option.since is None else f" ({option.since})"
    return _wrapped(f"  {option.text}{since}: {option.cost}.", "    ")


def _wrapped(paragraph: str, indent: str) -> list[str]:
    return textwrap.wrap(paragraph, WIDTH, subsequent_indent=indent, break_on_hyphens=False, break_long_words=False)
