"""What NCCL itself says of the run, in logs and tests that were given as evidence."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.analysis.nccl_logs import NcclLogs, NcclLogSummary
from nsysan.analysis.nccl_tests import NcclTests, NcclTestSummary
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_rate
from nsysan.report.elements import Table
from nsysan.report.nccl_tables import log_table, test_table, timing_table, where_tested
from nsysan.report.prose import spelled
from nsysan.report.section import Layout, Section, View


class NcclView(View, frozen=True):
    """What the logs and tests say in sentences, and tables."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def _build(run: Run) -> NcclView | None:
    logs, tests = logs_of(run), tests_of(run)
    if not logs and not tests:
        return None
    sentences = tuple(nccl_sentences(run))
    tables = (log_table(logs), timing_table(logs), test_table(tests))
    return NcclView(
        heading=sentences[0].rstrip("."),
        context="These are the words of the files named, not of the traces; neither is corrected by the other.",
        sentences=sentences[1:],
        tables=tuple(table for table in tables if table is not None),
    )


def logs_of(run: Run) -> tuple[NcclLogSummary, ...]:
    """The logs that were given."""
    found = run.results.get(NcclLogs)
    return () if isinstance(found, Skipped) else found.nccl_logs


def tests_of(run: Run) -> tuple[NcclTestSummary, ...]:
    """The tests that were given."""
    found = run.results.get(NcclTests)
    return () if isinstance(found, Skipped) else found.nccl_tests


def nccl_sentences(run: Run) -> Iterator[str]:
    """What each log and test says in one sentence, then what became of the calls in the logs."""
    yield from nccl_summary(run)
    for log in logs_of(run):
        yield from _call_sentences(log)


def nccl_summary(run: Run) -> Iterator[str]:
    """What each log says of networks and links, and each test of bandwidth."""
    yield from map(_network_sentence, logs_of(run))
    yield from map(_test_sentence, tests_of(run))


def _network_sentence(log: NcclLogSummary) -> str:
    version = f" {', '.join(log.versions)}" if log.versions else ""
    networks = [f"{one.network} ({counted(one.process_count, 'rank')})" for one in log.networks]
    layers = [layer for layer in log.adapters if layer not in {one.network for one in log.networks}]
    on = f" on {', '.join(layers)}" if networks and layers else ""
    told = f"names {' and '.join(networks)}{on} as its network" if networks else "does not say which network it uses"
    links = [f"{link.path} ({format_count(link.count)})" for link in log.links[:3]]
    over = f"; connections go over {', '.join(links)}" if links else ""
    return f"NCCL{version} {told}{over}, says {log.name}."


def _call_sentences(log: NcclLogSummary) -> Iterator[str]:
    if log.call_count:
        used = f"told more of {counted(log.used_call_count, 'call')} in the traces"
        if not log.process_count:
            used = "are of processes that are not in the traces, as far as hosts and process numbers tell"
        elif not log.used_call_count:
            used = "could not be placed: no thread of the traces makes such calls in that order"
        yield f"The {counted(log.call_count, 'line')} about calls in {log.name} {used}."
    if log.omitted_call_count:
        yield f"{counted(log.omitted_call_count, 'later call')} in {log.name} were not read: there are too many."


def _test_sentence(test: NcclTestSummary) -> str:
    kind = "a collective that it does not name" if test.kind is None else spelled(test.kind)
    inferred = ", as its bus factor tells," if test.kind_is_inferred else ""
    where = where_tested(test)
    over = f" over {where}" if where else ""
    rate = format_rate(test.highest_busbw_bytes_per_s)
    return f"nccl-tests reached up to {rate} of bus bandwidth with {kind}{inferred}{over}, says {test.name}."


SECTION = Section("nccl", 51, "NCCL's own words", "What NCCL itself says", _build, Layout.WIDE)
