"""Which analyses are asked for, and what they answer."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.of_reports import OfReport
from nsysan.analysis.registry import Analysis, analyses
from nsysan.attribution.job import Job
from nsysan.model.errors import UsageError
from nsysan.model.progress import Progress
from nsysan.model.prose import spelled
from nsysan.model.results import Result, ResultSet, Skipped
from nsysan.model.text import display_text


def wanted_analyses(only: Sequence[str]) -> tuple[Analysis, ...]:
    """The analyses asked for and those they need, in order; all of them where none is named."""
    known = {analysis.id: analysis for analysis in analyses()}
    id_of = {name: analysis.id for analysis in known.values() for name in (analysis.id, analysis.also) if name}
    if unknown := [name for name in only if name not in id_of]:
        listed = (f"{name} ({known[name].also})" if known[name].also else name for name in sorted(known))
        raise UsageError(f"There is no analysis {display_text(unknown[0])!r}.", f"Analyses: {', '.join(listed)}.")
    wanted = {id_of[name] for name in only} or set(known)
    for name in reversed(known):
        # an analysis stands after those it needs, so that backwards every need is met by one already wanted
        wanted |= {need.id for need in known[name].needs} if name in wanted else set()
    return tuple(analysis for name, analysis in known.items() if name in wanted)


def answers(job: Job, wanted: Sequence[Analysis], progress: Progress, parts: Sequence[OfReport] = ()) -> ResultSet:
    """What the analyses answer of the job; where ``parts`` are given, by putting together what reports answered."""
    results = ResultSet({})
    for analysis in analyses():
        result: Result | Skipped = Skipped(analysis.id, "not asked for with --only", "Leave out --only.")
        if analysis in wanted:
            progress.begin(f"analysing: {spelled(analysis.id)}")
            if parts:
                assert analysis.merge is not None, "who compares reports needs their traces"
                result = analysis.merge(job, results, parts)
            else:
                result = analysis.compute(job, results)
        results = results.with_result(analysis.id, result)
    return results
