"""What a rule says: a finding with its evidence and advice, and the diagnosis over all of them."""

from __future__ import annotations

from enum import Enum

import msgspec

from nsysan.model.confidence import Confidence
from nsysan.model.losses import Bound
from nsysan.model.verdicts import BottleneckClass, ClassState, Severity


class PlaceKind(str, Enum):
    """What a place in the timeline is."""

    GAP = "gap"
    PART = "part"
    STEP = "step"


class EvidencePlace(msgspec.Struct, frozen=True):
    """A stretch of a GPU's time, on the clock of its report, at which a timeline shows what the evidence says."""

    kind: PlaceKind
    gpu: str
    start_ns: int
    end_ns: int


class Evidence(msgspec.Struct, frozen=True):
    """A sentence with its figures, where they come from (the id of the result), and where they can be seen.

    ``kernels`` are the kernels it is about, by their names.
    """

    sentence: str
    source: str
    place: EvidencePlace | None = None
    kernels: tuple[str, ...] = ()


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something worth knowing. ``recoverable_ns`` is null where what a fix would win cannot be measured.

    It is ns of a step, or of the window where there are no steps, and errs as ``bound`` says. ``bottleneck_class`` and
    ``cause`` are null where the finding is about the trace itself, not about the job. ``confirm`` says what would make
    it sure, ``check`` which command shows the gain afterwards.
    """

    id: str
    bottleneck_class: BottleneckClass | None = msgspec.field(name="class")
    cause: str | None
    severity: Severity
    title: str
    recoverable_ns: int | None
    evidence: tuple[Evidence, ...]
    advice: tuple[str, ...]
    bound: Bound | None = None
    confidence: Confidence | None = None
    rank: int | None = None
    confirm: str | None = None
    check: str | None = None


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The one thing that holds the job back most."""

    bottleneck_class: BottleneckClass = msgspec.field(name="class")
    cause: str
    rank: int | None
    finding: str
    sentence: str


class ClassVerdict(msgspec.Struct, frozen=True):
    """One class of the walk: its state, and what removing its causes would win per step, at least where ``more_ns``.

    ``frac`` is the share of the step. ``more_ns`` more may be of it, or waiting for what other classes hold up.
    ``sentence`` says what was found, or why nothing can be.
    """

    state: ClassState
    recoverable_ns: int | None
    frac: float | None
    more_ns: int = 0
    sentence: str | None = None


class Diagnosis(msgspec.Struct, frozen=True):
    """The verdict. ``headline`` is null where there is none, and ``why`` then says so in one sentence.

    ``classes`` are in the order of the walk, which ``begin`` opens: whether the GPUs are slow or waiting. ``order``
    says what the walk meets first where something else is larger.
    """

    headline: Headline | None
    why: str | None
    classes: dict[BottleneckClass, ClassVerdict]
    begin: str | None = None
    order: str | None = None
