"""What of a run can be held against another run: figures by name, and the conditions under which they were taken.

A result that has such figures says them itself, in a method ``figures``; one that knows under what conditions it was
recorded has ``conditions``. Comparison, history and gate read nothing else of a result, so that the figures of a new
analysis are compared, kept and judged as soon as its result says them.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import ClassVar, Protocol, runtime_checkable

import msgspec


class Unit(str, Enum):
    """What a figure counts."""

    NS = "ns"
    FRAC = "frac"
    BYTES = "bytes"
    BYTES_PER_S = "bytes_per_s"
    COUNT = "count"
    PER_S = "per_s"
    HZ = "hz"


class Better(str, Enum):
    """Which way a figure should move."""

    LESS = "less"
    MORE = "more"
    NEITHER = "neither"


class Topic(msgspec.Struct, frozen=True):
    """What a group of figures is about; ``title`` stands above them."""

    id: str
    title: str


class Figure(msgspec.Struct, frozen=True):
    """One figure of a run. Its ``key`` is the same in every run and unique within its topic.

    All figures with the same ``part_of`` add up to the figure whose ``id`` that is, such as the parts of a step to the
    step. ``standard_error`` is that of the value as an estimate from one run, in its unit; None where it is no mean.
    """

    topic: Topic
    key: str
    name: str
    value: float
    unit: Unit
    better: Better = Better.NEITHER
    part_of: str | None = None
    standard_error: float | None = None

    @property
    def id(self) -> str:
        """What names the figure in every run: ``step.mean``."""
        return f"{self.topic.id}.{self.key}"


class Bearing(str, Enum):
    """What it means where a condition differs between two runs."""

    FORBIDS = "forbids"
    """Their figures tell of different things."""
    CAUTIONS = "cautions"
    """They can be compared by one who knows of it."""
    GATED = "gated"
    """They can be compared by one who knows of it, as a gate does not."""


class Condition(msgspec.Struct, frozen=True):
    """What a run was recorded under. ``value`` is None where that is not known.

    ``is_beside`` where only what was given beside the traces tells it: a run without that is not another thing.
    """

    id: str
    name: str
    value: str | None
    bearing: Bearing
    is_beside: bool = False


@runtime_checkable
class Measured(Protocol):
    """A result with figures to compare."""

    def figures(self) -> Iterable[Figure]:
        """The figures, in the order they are shown; none that is not known."""


@runtime_checkable
class Conditioned(Protocol):
    """A result that knows conditions of the recording."""

    def conditions(self) -> Iterable[Condition]:
        """The conditions, the gravest first."""


@runtime_checkable
class Beside(Protocol):
    """A result that evidence beside the traces tells."""

    id: ClassVar[str]

    def not_given(self) -> str | None:
        """What would tell it and was not given, ``log of NCCL``; None where it was."""
