"""The layout of the job and those beside it: what a GPU sends over links of known rates, and what it holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives
from nsysan.analysis.yardstick import Yardstick
from nsysan.hardware.answers import Ceiling
from nsysan.hardware.collective_ceilings import Exchange, RanksApart, collective_ceiling
from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import USUAL_NODE_GPUS
from nsysan.model.units import NS_PER_S
from nsysan.planning.layouts import (
    degree,
    halved,
    held_bytes,
    laid_out,
    message_bytes,
    rank_count,
    sent_bytes,
)
from nsysan.planning.model_shape import ModelShape
from nsysan.planning.throughput import LayoutRow

_KINDS = {
    Purpose.DATA_PARALLEL: Collective.ALL_REDUCE,
    Purpose.TENSOR_PARALLEL: Collective.ALL_REDUCE,
    Purpose.PIPELINE_PARALLEL: Collective.SEND_RECV,
    Purpose.EXPERT_PARALLEL: Collective.ALL_TO_ALL,
    Purpose.CONTEXT_PARALLEL: Collective.SEND_RECV,
}


def layout_rows(shape: ModelShape, world_size: int, results: ResultSet, yardstick: Yardstick) -> Iterator[LayoutRow]:
    """The job's layout, then each with half as many ranks to share one thing; none where the batch is not known."""
    own = laid_out(shape, world_size)
    if own is None:
        return
    collectives = results.get(Collectives)
    links = _Links(yardstick, () if isinstance(collectives, Skipped) else collectives.collectives)
    yield links.row(own, None)
    for purpose in _KINDS:
        other = halved(own, purpose)
        if other is not None:
            yield links.row(other, purpose)


class _Links:
    """What collectives reach on this machine, by the curves that were given, else by its data sheet."""

    def __init__(self, yardstick: Yardstick, traced: Sequence[CollectiveRow]) -> None:
        self._yardstick, self._traced = yardstick, traced

    def row(self, shape: ModelShape, halved_purpose: Purpose | None) -> LayoutRow:
        """The figures of one layout."""
        sent = sent_bytes(shape)
        ceilings = {purpose: self._ceiling(shape, purpose) for purpose in sent}
        times = [None if (found := ceilings[one]) is None else sent[one] / found.rate * NS_PER_S for one in sent]
        known = [time for time in times if time is not None]
        sources = dict.fromkeys(found.source for found in ceilings.values() if found is not None)
        return LayoutRow(
            halved=halved_purpose,
            tensor_parallel=shape.tensor_parallel,
            pipeline_parallel=shape.pipeline_parallel,
            expert_parallel=shape.expert_parallel,
            context_parallel=shape.context_parallel,
            data_parallel=degree(shape, Purpose.DATA_PARALLEL),
            sent_bytes_per_step=round(sum(sent.values())),
            transfer_ns_per_step=round(sum(known)) if len(known) == len(times) else None,
            rate_source="; ".join(sources) or None,
            held_bytes=round(held_bytes(shape)),
        )

    def _ceiling(self, shape: ModelShape, purpose: Purpose) -> Ceiling | None:
        ranks = rank_count(shape, purpose)
        apart = RanksApart(ranks, self._nodes(purpose, ranks))
        exchange = Exchange(_KINDS[purpose], round(message_bytes(shape, purpose)), apart)
        return collective_ceiling(self._yardstick.ceilings, self._yardstick.sheet, exchange)

    def _nodes(self, purpose: Purpose, ranks: int) -> int | None:
        """On how many nodes: as in the trace, else one where as many GPUs fit in it."""
        traced = [row.nodes for row in self._traced if row.purpose is purpose and row.nodes is not None]
        return max(traced) if traced else 1 if ranks <= USUAL_NODE_GPUS else None
