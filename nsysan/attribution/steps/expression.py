"""Which texts an expression of the user matches, in a process of its own that can be stopped."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Sequence

from nsysan.model.errors import UsageError
from nsysan.model.units import counted

PATIENCE_S = 20.0
"""Real texts take milliseconds; repeats inside repeats may take years for one text, and nothing else can stop them."""
_PROGRAM = """
import json, re, sys
expression, texts = json.load(sys.stdin)
matches = re.compile(expression).fullmatch
json.dump([place for place, text in enumerate(texts) if matches(text)], sys.stdout)
"""


def matched_places(expression: str, texts: Sequence[str], *, patience_s: float = PATIENCE_S) -> list[int]:
    """The places of the texts that the expression matches whole.

    Raises UsageError where it is no expression, or is not done after ``patience_s``.
    """
    try:
        re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:
        raise UsageError(
            f"No range is called as --marker says, and as an expression it is wrong: {error}.",
            "Give the text of a range, or an expression that its whole text matches.",
        ) from error
    try:
        found = subprocess.run(  # noqa: S603 -- this Python and a program of ours; what is not ours is its input
            [sys.executable, "-I", "-c", _PROGRAM],
            input=json.dumps([expression, texts]).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=patience_s,
            check=True,
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(
            f"The expression of --marker cannot be held against the {counted(len(texts), 'text')} of ranges: "
            f"it takes over {patience_s:g} s.",
            "Give the text of a range, or an expression without repeats inside repeats, such as (a+)+.",
        ) from error
    places: list[int] = json.loads(found.stdout)
    return places
