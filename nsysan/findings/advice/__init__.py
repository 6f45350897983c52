"""What to do about a cause: the only place that findings take advice from.

Each piece names the causes it follows from, so that none can be given for another: ``docs/diagnosis.md`` has the table.
"""

from __future__ import annotations

from nsysan.findings.advice.communication import COMMUNICATION
from nsysan.findings.advice.compute import COMPUTE
from nsysan.findings.advice.data import DATA
from nsysan.findings.advice.memory import MEMORY
from nsysan.findings.advice.piece import Advice
from nsysan.findings.advice.scheduling import SCHEDULING
from nsysan.findings.advice.situation import Situation
from nsysan.model.findings import Finding
from nsysan.model.results import ResultSet
from nsysan.model.verdicts import BottleneckClass

ALL_ADVICE: tuple[Advice, ...] = (*COMPUTE, *COMMUNICATION, *DATA, *MEMORY, *SCHEDULING)


def advise(cause: str, bottleneck_class: BottleneckClass | None, results: ResultSet) -> tuple[str, ...]:
    """What to do about the cause in a job like this, the most promising first; sentences."""
    situation = Situation(results)
    return tuple(one.spoken for one in ALL_ADVICE if one.follows_from(cause, bottleneck_class) and one.holds(situation))


def advice_of(advice_id: str) -> str:
    """The piece of advice of this id, for a rule that knows which applies. Raises KeyError where there is none."""
    return {one.id: one.spoken for one in ALL_ADVICE}[advice_id]


def refuse_unfounded(finding: Finding) -> Finding:
    """The finding itself. Raises ValueError where it advises what does not follow from its cause.

    A finding about the trace has no cause: what it advises is how to record again.
    """
    if finding.cause is None:
        return finding
    founded = {one.spoken for one in ALL_ADVICE if one.follows_from(finding.cause, finding.bottleneck_class)}
    for sentence in finding.advice:
        if sentence not in founded:
            raise ValueError(f"{finding.id} advises what does not follow from {finding.cause}: {sentence}")
    return finding
