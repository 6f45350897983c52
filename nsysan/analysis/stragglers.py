"""Which ranks the others wait for in collectives, how late they are, whether always the same, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import ClassVar

import msgspec
import numpy as np

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.lateness_causes import LatenessCauses, WhyLate
from nsysan.analysis.registry import Analysis
from nsysan.attribution.collectives.lateness import Arrivals, late_arrivals
from nsysan.attribution.collectives.measured import Measured
from nsysan.attribution.grouping import codes_of
from nsysan.attribution.job import Job
from nsysan.model.details import Detail
from nsysan.model.distinct import Distinct, distinct
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import MOST_WAITING_FRAC, PERSISTENT_FRAC

SHOWN_RANKS = 32


class Pattern(str, Enum):
    """Whether it is always the same rank that is late, in those instances that hold most of the waiting."""

    PERSISTENT = "persistent"
    ROTATING = "rotating"


class Straggler(msgspec.Struct, frozen=True):
    """A rank that others waited for.

    It came last, by over 20 us, to ``late_count`` of the ``instance_count`` instances of its communicators to which any
    rank was late; ``late_frac`` is their ratio. ``late_ns`` is the median of how long after the others, ``caused_ns``
    the waits of all others in these instances. ``why`` is null where nothing of it differs from the others enough.
    """

    rank: int
    device: str
    late_count: int
    instance_count: int
    late_frac: float
    pattern: Pattern
    late_ns: float
    caused_ns: int
    why: WhyLate | None


class Stragglers(msgspec.Struct, frozen=True):
    """The ranks that others waited for, those that cost most first."""

    id: ClassVar[str] = "stragglers"

    stragglers: tuple[Straggler, ...]

    def figures(self) -> Iterator[Figure]:
        """What is waited for late ranks by why they are late, for each collective to which any rank was late."""
        count = max((one.instance_count for one in self.stragglers), default=0)
        charged_ns: Counter[str] = Counter()
        for one in self.stragglers:
            charged_ns["unknown" if one.why is None else one.why.cause.value] += one.caused_ns
        for cause, time_ns in charged_ns.items():
            name = f"waits for ranks late by {spelled(cause)}"
            yield Figure(_TOPIC, cause, name, time_ns / count, Unit.NS, Better.LESS)


_TOPIC = Topic("late_ranks", "Waits of all ranks for late ones, mean over the collectives to which any was late")


def compute_stragglers(job: Job, results: ResultSet) -> Stragglers | Skipped:
    """The ranks that came last; skipped where collectives ran and none shows who did."""
    collectives = results.get(Collectives)
    if isinstance(collectives, Skipped):
        return Skipped(Stragglers.id, collectives.reason, collectives.recapture)
    arrivals, seen = late_arrivals(job.collectives.measured, job.collectives.operations)
    if collectives.collectives and all(row.wait_ns is None for row in collectives.collectives):
        reason = "no collective is there on all of its ranks, so that nothing shows who came last"
        return Skipped(Stragglers.id, reason, "Give the reports of all ranks.")
    lateness = sorted(_lateness(job, arrivals, seen), key=lambda late: (-late.caused_ns, late.rank))
    persistent = _persistent(arrivals, job.collectives.measured)
    causes = LatenessCauses(job)
    return Stragglers(tuple(late.straggler(job, causes, persistent) for late in lateness[:SHOWN_RANKS]))


ANALYSIS = Analysis(Stragglers, compute_stragglers, needs=(Collectives,), details=frozenset({Detail.KERNEL_SHAPES}))


class _Lateness(msgspec.Struct, frozen=True, eq=False):
    """A member that came last, and when; why is asked of those shown alone, since it takes all other ranks to say."""

    member: int
    rank: int
    arrivals: Arrivals
    instance_count: int

    @property
    def caused_ns(self) -> int:
        return int(self.arrivals.caused_ns.sum())

    def straggler(self, job: Job, causes: LatenessCauses, persistent: set[int]) -> Straggler:
        """The same with why it is late, and whether it is one of those that are so persistently."""
        found, own = job.collectives, self.arrivals
        others = {other for place in np.unique(own.series).tolist() for other in found.measured[place].series.members}
        return Straggler(
            rank=self.rank,
            device=found.members[self.member].id,
            late_count=len(own),
            instance_count=self.instance_count,
            late_frac=len(own) / self.instance_count,
            pattern=Pattern.PERSISTENT if self.member in persistent else Pattern.ROTATING,
            late_ns=float(np.median(own.late_ns)),
            caused_ns=self.caused_ns,
            why=causes.of(self.member, sorted(others - {self.member}), int(own.late_ns.sum())),
        )


def _persistent(arrivals: Arrivals, measured: Sequence[Measured]) -> set[int]:
    """The members that came last to two thirds of what matters: of the instances that hold most of the waiting.

    All ranks come last to something by a little, the more instances the more often.
    """
    largest_ns = np.sort(arrivals.caused_ns)[::-1]
    together_ns = np.cumsum(largest_ns)
    if not together_ns.any():
        return set()
    least_ns = largest_ns[np.searchsorted(together_ns, MOST_WAITING_FRAC * together_ns[-1])]
    mattering = arrivals.take(arrivals.caused_ns >= least_ns)
    instance_of = codes_of(mattering.series, mattering.instance)
    found = set()
    for member in np.unique(mattering.member).tolist():
        own = [place for place, one in enumerate(measured) if member in one.series.members]
        # several may have come last to an instance together
        own_count = len(distinct(instance_of[np.isin(mattering.series, own)]))
        if (mattering.member == member).sum() >= PERSISTENT_FRAC * own_count:
            found.add(member)
    return found


def _lateness(job: Job, arrivals: Arrivals, seen: dict[int, int]) -> Iterator[_Lateness]:
    for member in Distinct.of(arrivals.member).values.tolist():
        own = arrivals.take(arrivals.member == member)
        yield _Lateness(member, job.collectives.ranks.of_member[member], own, seen[member])
