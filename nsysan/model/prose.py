"""How sentences are put together, wherever they are written."""

from __future__ import annotations


def capitalized(text: str) -> str:
    """``text`` with its first character in upper case and the others as they are; an id is no word: ``r0/p1/d0``."""
    return text if "/" in text.partition(" ")[0] else text[:1].upper() + text[1:]


def uncapitalized(text: str) -> str:
    """``text`` with its first character in lower case, as it goes on within a sentence."""
    return text[:1].lower() + text[1:]


def spelled(name: str) -> str:
    """A name of ``run.json`` as words: ``exposed communication``."""
    return name.replace("_", " ")


def paired(first: str, word: str, second: str) -> str:
    """Two figures as one phrase, which names a unit they share once: ``11.0 to 14.2 %``, ``294.405 of 342.408 ms``."""
    unit = second.rpartition(" ")[2]
    return f"{first.removesuffix(f' {unit}')} {word} {second}"
