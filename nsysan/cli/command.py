"""What every command of nsysan is: a click command that takes an option of one value once."""

from __future__ import annotations

from collections import Counter

import click

from nsysan.model.errors import UsageError


class Command(click.Command):
    """Refuses an option that is given again with another value, of which click would silently take the last."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments left over. Raises UsageError naming an option that is there twice and takes one value."""
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for parameter, count in Counter(order).items():
            if count > 1 and isinstance(parameter, click.Option) and not (parameter.multiple or parameter.is_flag):
                spelling = max(parameter.opts, key=len)
                raise UsageError(f"{spelling} is given {count} times, and takes one value.", "Leave out all but one.")
        return super().parse_args(ctx, args)


class Group(click.Group):
    """A group of such commands."""

    command_class = Command
