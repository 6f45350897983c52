"""What of a job decides whether advice applies to it, as far as the results tell."""

from __future__ import annotations

import re
from functools import cached_property

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.analysis.step_losses import StepLosses
from nsysan.findings.layout_change import layout_change
from nsysan.model.idle import Cause
from nsysan.model.kernels import Collective, KernelClass
from nsysan.model.purposes import Purpose
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import ADVISED_FRAC, MOSTLY_FRAC, USUAL_NODE_GPUS

_REDUCTIONS = {Collective.ALL_REDUCE.value, Collective.REDUCE_SCATTER.value, Collective.ALL_GATHER.value}
_SOFTMAX = re.compile("softmax", re.IGNORECASE)


class Situation:
    """Questions about a job; what is not known is no reason to advise anything."""

    def __init__(self, results: ResultSet) -> None:
        self._results = results

    @cached_property
    def collectives(self) -> tuple[CollectiveRow, ...]:
        """The collectives that are known."""
        found = self._results.get(Collectives)
        return () if isinstance(found, Skipped) else found.collectives

    @cached_property
    def reduces(self) -> bool:
        """Whether what is exposed is, by kind and as far as its purpose is known, what data parallelism sends."""
        return any(map(self._may_be_of_gradients, self.collectives))

    @cached_property
    def reduces_single_precision(self) -> bool:
        """Whether what they reduce is known to be 32 bits wide."""
        return any(self._may_be_of_gradients(row) and "32" in (row.dtype or "") for row in self.collectives)

    def _may_be_of_gradients(self, row: CollectiveRow) -> bool:
        exposed_ns = sum(one.exposed_ns for one in self.collectives)
        is_much = row.exposed_ns > ADVISED_FRAC * exposed_ns
        return row.kind in _REDUCTIONS and row.purpose in {None, Purpose.DATA_PARALLEL} and is_much

    @cached_property
    def spans_nodes(self) -> bool:
        """Whether collectives are known to cross hosts."""
        return any((row.nodes or 1) > 1 for row in self.collectives)

    @cached_property
    def has_tensor_parallelism(self) -> bool:
        """Whether a communicator says that it shares tensors."""
        return any(row.purpose is Purpose.TENSOR_PARALLEL for row in self.collectives)

    def may_share_less(self, purpose: Purpose) -> bool:
        """Whether half as many ranks to share this would spare transfer by formula; else whether any share it."""
        change = layout_change(self._results, purpose)
        return any(row.purpose is purpose for row in self.collectives) if change is None else change.spared_ns > 0

    @cached_property
    def has_wide_expert_parallelism(self) -> bool:
        """Whether tokens are sent to all over more ranks than a node has GPUs, or over nodes."""
        return any(
            row.kind == Collective.ALL_TO_ALL.value and (len(row.ranks) > USUAL_NODE_GPUS or (row.nodes or 1) > 1)
            for row in self.collectives
        )

    @cached_property
    def lacks_ranks(self) -> bool:
        """Whether waiting is not known of any collective."""
        return bool(self.collectives) and all(row.wait_ns is None for row in self.collectives)

    @cached_property
    def idles_in_short_gaps(self) -> bool:
        """Whether most of the idle time is in short gaps: launches that come late one after the other."""
        return self._short_gap_frac is not None and self._short_gap_frac > MOSTLY_FRAC

    @cached_property
    def idles_in_long_gaps(self) -> bool:
        """Whether gaps are known, and most of the idle time is not in short ones."""
        return self._short_gap_frac is not None and not self.idles_in_short_gaps

    @property
    def _short_gap_frac(self) -> float | None:
        found = self._results.get(StepLosses)
        return None if isinstance(found, Skipped) else found.step_losses.short_gap_frac

    @cached_property
    def one_rank_loads_late(self) -> bool:
        """Whether one rank alone waits for its input."""
        found = self._results.get(StepLosses)
        causes = () if isinstance(found, Skipped) else found.step_losses.causes
        return any(loss.is_of_one_device for loss in causes if loss.cause == Cause.DATA_LOADING.value)

    @cached_property
    def runs_graphs(self) -> bool:
        """Whether CUDA graphs ran as a whole."""
        found = self._results.get(GpuTime)
        return not isinstance(found, Skipped) and bool(found.job.time.opaque_graph.worst_frac)

    @cached_property
    def attends_unfused(self) -> bool:
        """Whether a softmax of its own runs and no kernel that fuses attention does."""
        found = self._results.get(KernelSummary)
        if isinstance(found, Skipped):
            return False
        fused = any(row.kernel_class is KernelClass.ATTENTION for row in found.kernels)
        return not fused and any(_SOFTMAX.search(row.name) for row in found.kernels)
