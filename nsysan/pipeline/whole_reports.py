"""Which reports have to be read as a whole after all, though sums of their work are all that is asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from pathlib import Path

from msgspec.structs import replace

from nsysan.attribution.folded_job import reports_sharing_gpus
from nsysan.ingest.reading import ReadOptions
from nsysan.pipeline.packing import unpacked
from nsysan.pipeline.report_tasks import Failure, Outcome, Reading, ReadReport
from nsysan.pipeline.same_capture import may_be_same_capture


def read_reports(paths: Sequence[Path], options: ReadOptions, read: Reading) -> Iterable[Outcome]:
    """What ``read`` tells of each report; once more, as wholes, of those of which sums do not tell enough.

    These are GPUs that several reports saw at the same time, and what may be one capture in several forms.
    """
    if options.fold is None or len(paths) <= 1:
        return read(paths, options)
    outcomes = [unpacked(outcome) if isinstance(outcome, bytes) else outcome for outcome in read(paths, options)]
    again = list(_needed_whole(outcomes))
    whole = read([paths[place] for place in again], replace(options, fold=None)) if again else ()
    for place, outcome in zip(again, whole, strict=True):
        outcomes[place] = outcome
    return outcomes


def _needed_whole(outcomes: Sequence[ReadReport | Failure]) -> Iterator[int]:
    """The places of the reports that were folded and are needed as wholes, in ascending order."""
    readable = {place: outcome for place, outcome in enumerate(outcomes) if isinstance(outcome, ReadReport)}
    reports = list(readable.values())
    sharing = reports_sharing_gpus([report.trace for report in reports], [report.work for report in reports])
    needed = sharing | _maybe_repeated(reports)
    yield from (
        place
        for report, (place, outcome) in enumerate(readable.items())
        if outcome.work is not None and report in needed
    )


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
    counts = (_record_counts(report) for report in (one, other))
    shared = one.trace.gpu_tables().keys() & other.trace.gpu_tables().keys()
    return len({tuple(of_report[name] for name in sorted(shared)) for of_report in counts}) == 1


def _record_counts(report: ReadReport) -> dict[str, int]:
    if report.work is not None:
        return report.work.record_counts()
    return {name: len(table) for name, table in report.trace.gpu_tables().items()}
