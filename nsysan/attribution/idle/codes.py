"""Causes as numbers, for columns."""

from nsysan.model.idle import Cause

CAUSES = tuple(Cause)
"""What a cause code is an index into."""


def code_of(cause: Cause) -> int:
    """The code of a cause."""
    return CAUSES.index(cause)
