"""Paths on the command line."""

from __future__ import annotations

from pathlib import Path

import click


def path_argument(text: str) -> Path:
    """The path. Raises click.BadParameter where it is empty: an unset variable must not mean the working folder."""
    if not text:
        raise click.BadParameter("the path is empty.")
    return Path(text)
