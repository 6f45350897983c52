"""What nccl-tests reached, for the tables that were given as evidence."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from nsysan.analysis.registry import Analysis
from nsysan.attribution.job import Job
from nsysan.model.nccl_tests import NcclTest, NcclTestRow
from nsysan.model.results import ResultSet
from nsysan.model.text import display_text

SHOWN_ROWS = 128


class SizeReached(msgspec.Struct, frozen=True):
    """What was reached at one size; ``bytes`` is S, the whole array, and ``time_ns`` the test's mean of its runs."""

    bytes: int
    in_place: bool
    time_ns: float
    algbw_bytes_per_s: float
    busbw_bytes_per_s: float


class NcclTestSummary(msgspec.Struct, frozen=True):
    """One test, its sizes in the order of the table; the fields are null or empty where the table does not tell them.

    ``kind_is_inferred`` says that the collective is told by its ratio of busbw to algbw, not by its name.
    """

    name: str
    kind: str | None
    kind_is_inferred: bool
    dtype: str | None
    nccl_version: str | None
    rank_count: int | None
    nodes: int | None
    gpu_names: tuple[str, ...]
    is_cpu_time: bool
    highest_busbw_bytes_per_s: float
    sizes: tuple[SizeReached, ...]


class NcclTests(msgspec.Struct, frozen=True):
    """The tests that were given, none where none was."""

    id: ClassVar[str] = "nccl_tests"

    nccl_tests: tuple[NcclTestSummary, ...]


def compute_nccl_tests(job: Job, _results: ResultSet) -> NcclTests:
    """A summary of each test of nccl-tests among the evidence."""
    return NcclTests(tuple(_summary(test) for test in job.evidence.of(NcclTest)))


ANALYSIS = Analysis(NcclTests, compute_nccl_tests, of_host=False)


def _summary(test: NcclTest) -> NcclTestSummary:
    dtypes = {row.dtype for row in test.rows}
    return NcclTestSummary(
        name=display_text(test.name),
        kind=None if test.kind is None else test.kind.value,
        kind_is_inferred=test.kind_is_inferred,
        dtype=display_text(next(iter(dtypes))) if len(dtypes) == 1 else None,
        nccl_version=test.nccl_version,
        rank_count=test.rank_count,
        nodes=test.node_count,
        gpu_names=tuple(map(display_text, test.gpu_names)),
        is_cpu_time=test.is_cpu_time,
        highest_busbw_bytes_per_s=max(row.busbw_bytes_per_s for row in test.rows),
        sizes=tuple(_size(row) for row in test.rows[:SHOWN_ROWS]),
    )


def _size(row: NcclTestRow) -> SizeReached:
    return SizeReached(row.size_bytes, row.in_place, row.time_ns, row.algbw_bytes_per_s, row.busbw_bytes_per_s)
