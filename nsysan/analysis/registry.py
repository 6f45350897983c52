"""What an analysis is, and which there are: each module here that declares ``ANALYSIS`` is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from graphlib import TopologicalSorter

import msgspec

import nsysan.analysis
from nsysan.analysis.of_reports import OfReport
from nsysan.attribution.job import Job
from nsysan.model.details import Detail
from nsysan.model.registry import discover
from nsysan.model.results import Result, ResultSet, Skipped


class Analysis(msgspec.Struct, frozen=True):
    """One question: the type of its answer, how it is computed, and which other answers it reads.

    ``of_host`` says whether the answer is nothing without what the host did (calls, ranges, waits): where no answer is
    asked for that needs it, it is not read. So are ``details``, large tables of their own.
    """

    result_type: type[Result]
    compute: Callable[[Job, ResultSet], Result | Skipped]
    needs: tuple[type[Result], ...] = ()
    of_host: bool = True
    details: frozenset[Detail] = frozenset()
    of_sums: bool = False
    """Whether ``Job.sums`` tell all that it asks of GPU work."""
    merge: Callable[[Job, ResultSet, Sequence[OfReport]], Result | Skipped] | None = None
    """Puts together what reports answered each by itself, the work of each on GPUs of its own.

    Null where only all traces together tell. The job knows sums of the work; it has work on every GPU.
    """
    of_communication: bool = False
    """Whether ``merge`` sets ranks against each other: it asks for the communication kernels of every report."""
    also: str | None = None
    """What one may call it instead of by its id."""

    @property
    def id(self) -> str:
        """The result's id, which is the analysis' as well."""
        return self.result_type.id


def result_types() -> tuple[type[Result], ...]:
    """The type of every analysis' result: what a saved run may hold."""
    return tuple(analysis.result_type for analysis in analyses())


def analyses() -> tuple[Analysis, ...]:
    """Every analysis, each after those it needs."""
    found = {analysis.id: analysis for analysis in discover(nsysan.analysis, "ANALYSIS", Analysis)}
    order = TopologicalSorter({key: [need.id for need in found[key].needs] for key in found}).static_order()
    return tuple(found[key] for key in order)
