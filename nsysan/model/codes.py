"""Numbers that nsys writes for a kind of thing, by name."""

from enum import IntEnum


class Code(IntEnum):
    """As text it is the number, on Python 3.10 as on later ones: it goes into queries."""

    __str__ = int.__repr__
