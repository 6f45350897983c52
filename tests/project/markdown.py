"""The project's own documents: their text, their fenced blocks and their links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from tests.project.repository import ROOT, tracked_files

RUNNABLE = re.compile(r"(?<=^```console run\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
"""The text of blocks whose fence says ``console run``."""
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)#\s]+)")


@cache
def documents() -> dict[str, str]:
    """The text of each document by its path from the root."""
    paths = [path for path in tracked_files() if path.endswith(".md")]
    return {path: (ROOT / path).read_text(encoding="utf-8") for path in paths}


def is_of_the_guide(path: str) -> bool:
    """Whether the commands of the document share files with others, so that ``test_guide`` runs them together."""
    return path.startswith("docs/guide/") or path == "docs/worked-case.md"


def local_links(text: str) -> list[str]:
    """Where the links of a document lead inside the project."""
    return [match["target"] for match in _LINK.finditer(text) if "://" not in match["target"]]


def run_again(text: str, run: Callable[[str], str]) -> str:
    """The document with what each command of its runnable blocks prints now, where it shows anything under it."""
    return RUNNABLE.sub(lambda block: "".join(_again(block[0], run)), text)


def _again(block: str, run: Callable[[str], str]) -> Iterator[str]:
    for command, shown in command_lines(block):
        printed = run(command)
        yield f"$ {command}\n{printed if shown else ''}"


def command_lines(block: str) -> list[tuple[str, str]]:
    """Each command behind a ``$`` prompt, and what the block shows under it."""
    pieces = re.split(r"^\$ (.*)\n", block, flags=re.MULTILINE)[1:]
    return list(zip(pieces[::2], pieces[1::2], strict=True))
