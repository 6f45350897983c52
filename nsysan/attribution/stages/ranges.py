"""What the NVTX ranges of one process say about stages: the phase that each thread is in, and its operators."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.idle.range_causes import without_workplaces
from nsysan.attribution.ranges.names import group_name
from nsysan.attribution.stages.codes import UNASSIGNED, code_of
from nsysan.attribution.stages.names import is_operator, stage_of_operator, stage_of_range
from nsysan.model.arrays import BoolArray, IdArray, Int64Array
from nsysan.model.distinct import distinct
from nsysan.model.stages import Stage
from nsysan.model.trace import PROCESS_BITS
from nsysan.timeline.labelling import NOBODY, Labelling, first_come, innermost, overlaid

_FORWARD, _BACKWARD = code_of(Stage.FORWARD), code_of(Stage.BACKWARD)
_MARGINAL = (code_of(Stage.DATA), code_of(Stage.OTHER))
"""Stages that launch little: a range that holds most launches of its thread is where it works, whatever its name."""
_PHASES = (_FORWARD, _BACKWARD, code_of(Stage.OPTIMIZER))


class ProcessRanges:
    """The ranges of a process. Those that mark its steps, by the name ``marker``, may be one of its phases.

    DeepSpeed's are: it has none around a step.
    """

    def __init__(self, host: Host, global_pid: int, marker: str | None) -> None:
        self._host = host
        self._global_pid = global_pid
        self._markers = set() if marker is None else {marker, group_name(marker)}
        self._phases: dict[int, Labelling] = {}

    @cached_property
    def names_every_phase(self) -> bool:
        """Whether forward, backward and optimizer have ranges: what is in none of them is then none of them.

        Without calls nothing tells what is in them.
        """
        host = self._host
        if not (host.calls_by_thread.keys & PROCESS_BITS == self._global_pid).any():
            return False
        named = np.zeros(len(host.range_groups.names), np.bool_)
        for by_thread in (host.stacked_by_thread, host.unstacked_by_thread):
            for thread in by_thread.keys[by_thread.keys & PROCESS_BITS == self._global_pid].tolist():
                named[host.range_groups.of_row[by_thread.of(thread)]] = True
        return bool(np.isin(_PHASES, self._phase_codes[named]).all())

    def phases(self, global_tid: int) -> Labelling:
        """The stage code of the innermost range of the thread that names one; the nearest one around counts.

        Start/end ranges that the thread began count where none of its push/pop ranges names a stage. A forward inside
        a backward is computed again for it, and belongs to it.
        """
        if global_tid not in self._phases:
            self._phases[global_tid] = self._phases_of(global_tid)
        return self._phases[global_tid]

    def operators(self, global_tid: int) -> Labelling:
        """Forward or backward, by the innermost operator of the thread whose name says so."""
        rows = self._host.stacked_by_thread.of(global_tid)
        return self._innermost(rows, self._operator_codes[self._host.range_groups.of_row[rows]])

    def _phases_of(self, global_tid: int) -> Labelling:
        by_thread = (self._host.stacked_by_thread, self._host.unstacked_by_thread)
        named = [self._named(rows.of(global_tid), global_tid) for rows in by_thread]
        found = overlaid([self._innermost(rows, codes) for rows, codes in named])
        backward = np.concatenate([rows[codes == _BACKWARD] for rows, codes in named])
        around = first_come(self._host.ranges.start_ns[backward], self._host.range_ends_ns[backward])
        return _recomputed(found, around)

    def _named(self, rows: Int64Array, global_tid: int) -> tuple[Int64Array, IdArray]:
        """Those of the thread's ranges that name a stage, and which."""
        codes = self._codes(rows)
        rows, codes = rows[codes != UNASSIGNED], codes[codes != UNASSIGNED]
        marginal = np.isin(codes, _MARGINAL) | self._marks[self._host.range_groups.of_row[rows]]
        if marginal.any():
            codes[marginal] = self._without_workplaces(rows[marginal], codes[marginal], global_tid)
        return rows, codes

    def _without_workplaces(self, rows: Int64Array, codes: IdArray, global_tid: int) -> IdArray:
        host = self._host
        calls = host.calls_by_thread.of(global_tid)
        launches_ns = host.calls.start_ns[calls[host.launching[calls]]]
        ends_ns = np.maximum(host.range_ends_ns[rows], host.ranges.start_ns[rows])
        spans = np.searchsorted(launches_ns, host.ranges.start_ns[rows]), np.searchsorted(launches_ns, ends_ns)
        return without_workplaces(codes, host.range_groups.of_row[rows], spans, len(launches_ns))

    def _innermost(self, rows: Int64Array, codes: IdArray) -> Labelling:
        named = codes != UNASSIGNED
        found = innermost(self._host.ranges.start_ns[rows[named]], self._host.range_ends_ns[rows[named]])
        return found.relabelled(codes[named])

    def _codes(self, rows: Int64Array) -> IdArray:
        codes: IdArray = self._phase_codes[self._host.range_groups.of_row[rows]]
        return codes

    @cached_property
    def _phase_codes(self) -> IdArray:
        return self._of_groups(lambda name: None if is_operator(name) else stage_of_range(name))

    @cached_property
    def _marks(self) -> BoolArray:
        return np.array([name in self._markers for name in self._host.range_groups.names], np.bool_)

    @cached_property
    def _operator_codes(self) -> IdArray:
        return self._of_groups(lambda name: stage_of_operator(name) if is_operator(name) else None)

    def _of_groups(self, stage_of: Callable[[str], Stage | None]) -> IdArray:
        stages = (stage_of(name) for name in self._host.range_groups.names)
        return np.array([UNASSIGNED if stage is None else code_of(stage) for stage in stages], np.int8)


def _recomputed(phases: Labelling, backward: Labelling) -> Labelling:
    bounds_ns = distinct(np.concatenate([phases.bounds_ns, backward.bounds_ns]))
    labels, inside = phases.at(bounds_ns), backward.at(bounds_ns) != NOBODY
    return Labelling(bounds_ns, np.where((labels == _FORWARD) & inside, _BACKWARD, labels))
