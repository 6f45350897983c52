"""``nsysan recipe-path``: where ``nsys recipe`` finds nsysan's recipes."""

from __future__ import annotations

import click

from nsysan.cli.command import Command
from nsysan.cli.outputs import print_result


@click.command("recipe-path", cls=Command, short_help="The folder of recipes for nsys recipe.")
def recipe_path_command() -> None:
    """Print the folder that NSYS_RECIPE_PATH must name: NSYS_RECIPE_PATH=$(nsysan recipe-path) nsys recipe ..."""
    from pathlib import Path

    import nsysan.recipe

    print_result(f"{Path(nsysan.recipe.__file__).parent}\n")


COMMAND = recipe_path_command
