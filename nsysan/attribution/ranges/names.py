"""NVTX texts: the name that ranges share, and what PyTorch writes behind it."""

from __future__ import annotations

import json
import re
from itertools import accumulate

import msgspec
import numpy as np

from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.columns import as_few_bytes
from nsysan.model.distinct import coded
from nsysan.model.trace import Trace

_NUMBER = r"\d+(?:\.\d+)?"
_COUNTED = re.compile(
    rf"(?<![A-Za-z0-9])(?<!\d\.){_NUMBER}(?![A-Za-z0-9])|(?<=(?i:step|iter))\d+|(?<=(?i:batch))\d+|(?<=(?i:iteration))\d+"
)
_DETAIL = re.compile(
    r", (?:seq = (?P<seq>\d{1,18})|op_id = (?P<op>\d{1,18})|sizes = (?P<sizes>\[[\[\]\d, ]*\])|input_op_ids = .*)",
    re.DOTALL,
)
SIZES = ", sizes = "
_MOST_DIGITS = 18
"""Of a number that counts anything; Python refuses to read one of over 4,300."""
_LONGEST_SIZES = 10_000
"""Characters: longer shapes are no operator's inputs."""
_DEEPEST_SIZES = 8
"""Lists within lists; how deep Python's own parser goes differs from version to version."""


class OperatorText(msgspec.Struct, frozen=True):
    """What ``emit_nvtx`` and ``nsys --pytorch`` tell of an operator; null is what they leave out.

    ``sizes`` are the shapes of its inputs; an input that is a list of tensors has a list of shapes, one without a shape
    an empty list.
    """

    operator: str
    sequence: int | None
    operator_id: int | None
    sizes: tuple[object, ...] | None


def parse_operator(text: str) -> OperatorText:
    """The operator behind a range's text: ``aten::mm, seq = 12, op_id = 7, sizes = [[8, 4], [4, 2]]``."""
    sequence = operator_id = sizes = None
    head = _DETAIL.search(text)
    for detail in _DETAIL.finditer(text):
        sequence = sequence if detail["seq"] is None else int(detail["seq"])
        operator_id = operator_id if detail["op"] is None else int(detail["op"])
        sizes = sizes if detail["sizes"] is None else _parse_sizes(detail["sizes"])
    return OperatorText(text if head is None else text[: head.start()], sequence, operator_id, sizes)


class OperatorShapes:
    """The shapes that texts tell, as JSON; texts of operators are many, and their shapes few."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}

    def of(self, text: str) -> str | None:
        """The shapes of an operator's inputs, ``[[8, 4], [4, 2]]``; None where the text tells none."""
        begin = text.find(SIZES)
        if begin < 0:
            return None
        end = text.find(", input_op_ids", begin)
        written = text[begin : None if end < 0 else end]
        if written not in self._known:
            sizes = parse_operator(written).sizes
            self._known[written] = None if sizes is None else json.dumps(sizes)
        return self._known[written]


def group_name(text: str) -> str:
    """The name that ranges of one kind share: without PyTorch's details, and ``*`` for each number that counts."""
    return _COUNTED.sub("*", without_details(text))


def numbers_in(text: str) -> list[int]:
    """The whole numbers that count in a text, in order."""
    found = _COUNTED.findall(without_details(text))
    return [int(number) for number in found if number.isdigit() and len(number) <= _MOST_DIGITS]


class NameGroups(msgspec.Struct, frozen=True, eq=False):
    """The names that ranges share; ``of_row[i]`` is the place of range ``i``'s name in ``names``."""

    names: tuple[str, ...]
    of_row: IdArray


def name_groups(trace: Trace, name_ids: Int64Array) -> NameGroups:
    """The groups of ranges with these names; an operator's name is looked at once, whatever follows it."""
    unique, name_of = coded(name_ids)
    numbers: dict[str, int] = {}
    by_head: dict[str, int] = {}
    groups = []
    for name_id in unique.tolist():
        head = without_details(trace.text(name_id))
        number = by_head.get(head)
        if number is None:
            number = by_head[head] = numbers.setdefault(_COUNTED.sub("*", head), len(numbers))
        groups.append(number)
    return NameGroups(tuple(numbers), as_few_bytes(np.array(groups, np.int64))[name_of])


def without_details(text: str) -> str:
    """The text up to what PyTorch writes behind the name of an operator."""
    detail = _DETAIL.search(text)
    return text if detail is None else text[: detail.start()]


def _parse_sizes(written: str) -> tuple[object, ...] | None:
    """The shapes, None where they are no lists of whole numbers."""
    if len(written) > _LONGEST_SIZES or not re.fullmatch(r"[\[\]\d, ]*", written):
        return None
    depths = accumulate((letter == "[") - (letter == "]") for letter in written)
    if max(depths, default=0) > _DEEPEST_SIZES:
        return None
    try:
        parsed = json.loads(written)
    except ValueError:
        return None
    return tuple(parsed) if isinstance(parsed, list) else None
