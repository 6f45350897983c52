"""What a rule says: a finding with its evidence and advice, and the diagnosis over all of them."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec

from nsysan.model.verdicts import BottleneckClass, ClassState, Severity


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence with its figures, and where they come from (the id of the result)."""

    sentence: str
    source: str


# Finding and Headline are Structs, not dataclasses: run.json names their class ``class``, a word Python reserves.


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something worth knowing. ``recoverable_ns`` is null where what a fix would win cannot be measured.

    ``bottleneck_class`` and ``cause`` are null where the finding is about the trace itself, not about the job.
    """

    id: str
    bottleneck_class: BottleneckClass | None = msgspec.field(name="class")
    cause: str | None
    severity: Severity
    title: str
    recoverable_ns: int | None
    evidence: tuple[Evidence, ...]
    advice: tuple[str, ...]


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The one thing that holds the job back most."""

    bottleneck_class: BottleneckClass = msgspec.field(name="class")
    cause: str
    rank: int | None
    finding: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ClassVerdict:
    """One class of the walk: its state, and what removing its causes would win per step."""

    state: ClassState
    recoverable_ns: int | None
    frac: float | None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The verdict. ``headline`` is null where there is none, and ``why`` then says so in one sentence."""

    headline: Headline | None
    why: str | None
    classes: dict[BottleneckClass, ClassVerdict]
