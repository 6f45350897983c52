"""Amounts on the command line: numbers above zero that can be counted with."""

from __future__ import annotations

from collections.abc import Callable

import click


def up_to(most: float) -> Callable[[click.Context, click.Parameter, float | None], float | None]:
    """The callback of an option that takes a number above zero and up to ``most``; it raises click.BadParameter."""

    def checked(_context: click.Context, _parameter: click.Parameter, value: float | None) -> float | None:
        # what is not a number is in no range
        if value is not None and not 0 < value <= most:
            raise click.BadParameter(f"{value} is not above 0 and at most {most:g}.")
        return value

    return checked
