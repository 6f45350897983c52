"""Which reports have to be read as a whole after all, though sums of their work are all that is asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path

from msgspec.structs import replace

from nsysan.attribution.folded_job import reports_sharing_gpus
from nsysan.model.results import Skipped
from nsysan.pipeline.packing import unpacked
from nsysan.pipeline.questions import wanted_analyses
from nsysan.pipeline.report_tasks import Order, Outcome, Reading, ReadReport
from nsysan.pipeline.same_capture import may_be_same_capture


def read_reports(paths: Sequence[Path], order: Order, read: Reading) -> Iterable[Outcome]:
    """What ``read`` tells of each report; once more, as wholes, of those of which that is not enough.

    These are GPUs that several reports saw at the same time, and what may be one capture in several forms. Where
    reports answer by themselves all of them are, if it is any.
    """
    if len(paths) <= 1 or (order.fold is None and not order.questions):
        return read(paths, order)
    outcomes = [unpacked(outcome) if isinstance(outcome, bytes) else outcome for outcome in read(paths, order)]
    readable = {place: outcome for place, outcome in enumerate(outcomes) if isinstance(outcome, ReadReport)}
    needed = _needed_whole(list(readable.values()), order.questions)
    again = [place for report, place in enumerate(readable) if report in needed and readable[place].work is not None]
    whole = read([paths[place] for place in again], replace(order, fold=None, questions=())) if again else ()
    for place, outcome in zip(again, whole, strict=True):
        outcomes[place] = outcome
    return outcomes


def _needed_whole(reports: Sequence[ReadReport], questions: Sequence[str]) -> set[int]:
    """The places of the reports that are needed as wholes."""
    sharing = reports_sharing_gpus([report.trace for report in reports], [report.work for report in reports])
    needed = sharing | _maybe_repeated(reports)
    are_all = bool(questions) and (needed or not _can_be_merged(reports, questions))
    return set(range(len(reports))) if are_all else needed


def _can_be_merged(reports: Sequence[ReadReport], questions: Sequence[str]) -> bool:
    """Whether answers of reports tell those of all: what none answers is left out for one reason."""
    results = [report.answers.results for report in reports if report.answers is not None]
    if len(results) < len(reports) or len({report.trace.profiler for report in reports}) > 1:
        return False
    alone = (analysis for analysis in wanted_analyses(questions) if not analysis.of_communication)
    for analysis in alone:
        found = [of_report.get(analysis.result_type) for of_report in results]
        reasons = {one if isinstance(one, Skipped) else None for one in found}
        if len(reasons) > 1 and None not in reasons:
            return False
    return True


def _maybe_repeated(reports: Sequence[ReadReport]) -> set[int]:
    """The reports that may be the same capture as another one, as far as can be told without their records."""
    alike: defaultdict[int | None, list[int]] = defaultdict(list)
    for place, report in enumerate(reports):
        alike[report.trace.session_start_utc_ns].append(place)
    found = set()
    for places in alike.values():
        for one, other in combinations(places, 2):
            if _may_repeat(reports[one], reports[other]):
                found |= {one, other}
    return found


def _may_repeat(one: ReadReport, other: ReadReport) -> bool:
    if not may_be_same_capture(one.trace, other.trace):
        return False
    counts = (report.record_counts() for report in (one, other))
    shared = one.trace.gpu_tables().keys() & other.trace.gpu_tables().keys()
    return len({tuple(of_report[name] for name in sorted(shared)) for of_report in counts}) == 1
