"""Gradients that are reduced over several nodes, exposed: what the links are, and which measure wins most."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives
from nsysan.analysis.nccl_logs import NcclLogs, NcclLogSummary, TimingInLog
from nsysan.analysis.ranges import Ranges
from nsysan.analysis.step_losses import Loss, LossReport, StepLosses
from nsysan.analysis.steps import Steps
from nsysan.attribution.stages.names import is_operator, stage_of_range
from nsysan.findings.advice import advice_of, advise
from nsysan.findings.losing import losses_of, losses_to, severity_of
from nsysan.findings.registry import Rule
from nsysan.model.findings import Evidence, Finding
from nsysan.model.idle import Cause
from nsysan.model.kernels import Collective
from nsysan.model.losses import EXPOSED_COLLECTIVE, Basis
from nsysan.model.prose import spelled
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.stages import Stage
from nsysan.model.units import counted, format_duration, format_fraction, format_rate
from nsysan.model.verdicts import BottleneckClass
from nsysan.planning.measures import Group, reduced_once_frac, shared_inside_nodes_frac

_MEASURE = "Measure "
_WINS = "; alone it wins at most "
_REDUCTIONS = {Collective.ALL_REDUCE.value, Collective.REDUCE_SCATTER.value}


class _Measure(msgspec.Struct, frozen=True):
    """What to do, and what it alone wins of a step, at most."""

    what: str
    won_ns: float


def find_across_nodes(results: ResultSet) -> Iterable[Finding]:
    """A finding where reductions over several nodes are exposed in steady steps."""
    report, found = losses_of(results), results.get(Collectives)
    loss = next(iter(losses_to(results, EXPOSED_COLLECTIVE)), None)
    if report is None or report.basis is not Basis.STEPS or loss is None or isinstance(found, Skipped):
        return
    across = [row for row in found.collectives if row.kind in _REDUCTIONS and (row.nodes or 1) > 1 and row.exposed_ns]
    if across:
        widest = max(across, key=lambda row: row.exposed_ns)
        group = Group(max(found.world_size or 0, len(widest.ranks)), widest.nodes or 1)
        of_all = sum(row.exposed_ns for row in across) / sum(row.exposed_ns for row in found.collectives)
        yield _finding(results, report, group, loss.recoverable_ns * of_all)


RULE = Rule("across_nodes", find_across_nodes)


def measures_of(finding: Finding) -> tuple[tuple[str, str], ...]:
    """What to do and what it alone wins, by rank; none of findings of other rules."""
    if finding.id != RULE.id:
        return ()
    told = (one.sentence.partition(": ")[2] for one in finding.evidence if one.sentence.startswith(_MEASURE))
    parts = (sentence.rstrip(".").partition(_WINS) for sentence in told)
    return tuple((what, won) for what, _, won in parts)


def _finding(results: ResultSet, report: LossReport, group: Group, exposed_ns: float) -> Finding:
    """``recoverable_ns`` is null: the time is that of ``exposed_communication``, and counts there."""
    exposed_frac = exposed_ns / report.stretch_ns
    cost = f"at most {format_duration(exposed_ns)} a step, {format_fraction(exposed_frac)}"
    measures = sorted(_measures(results, group, exposed_ns), key=lambda one: -one.won_ns)
    return Finding(
        id=RULE.id,
        bottleneck_class=BottleneckClass.COMMUNICATION,
        cause=EXPOSED_COLLECTIVE,
        severity=severity_of(exposed_frac),
        title=f"Gradients are reduced across {group.node_count} nodes, exposed: {cost}",
        recoverable_ns=None,
        evidence=(
            *_layout(results, group),
            *_links(results),
            *(_ranked(place, one, report) for place, one in enumerate(measures, start=1)),
        ),
        advice=_advice(results),
        confirm="Run nccl-tests on the same ranks, and on those of one node: what lies between the two is the link.",
    )


def _advice(results: ResultSet) -> tuple[str, ...]:
    given = advise(EXPOSED_COLLECTIVE, BottleneckClass.COMMUNICATION, results)
    fitting = {advice_of(name) for name in ("accumulate", "share_inside_nodes", "rank_order")}
    return tuple(sentence for sentence in given if sentence in fitting)


def _ranked(place: int, measure: _Measure, report: LossReport) -> Evidence:
    won = f"{format_duration(measure.won_ns)} a step, {format_fraction(measure.won_ns / report.stretch_ns)}"
    return Evidence(f"{_MEASURE}{place}: {measure.what}{_WINS}{won}.", StepLosses.id)


def _measures(results: ResultSet, group: Group, exposed_ns: float) -> Iterator[_Measure]:
    parts = parts_of_a_step(results)
    if parts > 1:
        what = f"reduce gradients once a step, if now after each of its {parts} parts"
        yield _Measure(what, exposed_ns * (1 - reduced_once_frac(parts)))
    else:
        what = "accumulate over twice the parts before gradients are reduced, for a token"
        yield _Measure(what, exposed_ns * (1 - reduced_once_frac(2)))
    if group.rank_count > group.node_count:
        what = "move data parallelism inside nodes to tensor or pipeline parallelism, less what that sends there"
        yield _Measure(what, exposed_ns * (1 - shared_inside_nodes_frac(group)))
    yield from (_prefetching(loss) for loss in losses_to(results, Cause.DATA_LOADING.value))


def _prefetching(loss: Loss) -> _Measure:
    return _Measure("have batches at hand, prepared, mapped into memory and prefetched", loss.recoverable_ns)


def parts_of_a_step(results: ResultSet) -> int:
    """How many backwards a step has, as NVTX ranges tell; 1 where they tell nothing."""
    steps, ranges = results.get(Steps), results.get(Ranges)
    if isinstance(steps, Skipped) or isinstance(ranges, Skipped):
        return 1
    marked = sum(row.count for row in ranges.ranges if row.name == steps.steps.marker)
    counts = [
        row.count
        for row in ranges.ranges
        if not is_operator(row.name) and stage_of_range(row.name) is Stage.BACKWARD and row.gpu_total_ns
    ]
    return counts[0] // marked if counts and marked and counts[0] % marked == 0 else 1


def _layout(results: ResultSet, group: Group) -> Iterator[Evidence]:
    found = results.get(Collectives)
    rows: tuple[CollectiveRow, ...] = () if isinstance(found, Skipped) else found.collectives
    inside = [row for row in rows if row.nodes == 1 and row.exposed_ns]
    stays = "others stay inside nodes" if inside else "no collective stays inside a node"
    yield Evidence(
        f"A group of {counted(group.rank_count, 'rank')} reduces over {group.node_count} nodes; {stays}.",
        Collectives.id,
    )


def _links(results: ResultSet) -> Iterator[Evidence]:
    """What programs timed across nodes and inside one, in the same log."""
    found = results.get(NcclLogs)
    for log in () if isinstance(found, Skipped) else found.nccl_logs:
        across = [timing for timing in log.timings if (timing.node_count or 1) > 1]
        inside = [timing for timing in log.timings if timing.node_count == 1]
        if across:
            yield Evidence(_speeds(log, across[0], inside[0] if inside else None), NcclLogs.id)


def _speeds(log: NcclLogSummary, across: TimingInLog, inside: TimingInLog | None) -> str:
    ring = f"{across.algorithm or spelled(across.kind)} of {counted(across.rank_count or 0, 'rank')}"
    told = f"{log.name} times a {ring} on {across.node_count} nodes at {format_rate(across.busbw_bytes_per_s)} busbw"
    if inside is None:
        return f"{told}."
    times = inside.busbw_bytes_per_s / across.busbw_bytes_per_s
    return f"{told}, inside a node {format_rate(inside.busbw_bytes_per_s)}, {times:.1f} times as much."
