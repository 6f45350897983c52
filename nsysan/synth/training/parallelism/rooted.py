"""Data parallelism in which the first rank serves the others: it alone loads, and collects what was measured."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.simulation.program import Action, Rendezvous
from nsysan.synth.training.job import DATA_PARALLEL, Parallelism
from nsysan.synth.training.training_step import TrainingStep

_ROOT = 0
_BUFFER_BYTES = 64_000_000
_STATISTICS_BYTES = 16_000_000
_SAMPLE_BYTES = 2_000_000


class RootedStep(TrainingStep):
    """One broadcast, scatter, reduce and gather a step, all with the same root."""

    def fetch_batch(self) -> Iterator[Action]:
        """The root loads and hands out the batch and its buffers; on the others' GPUs, the first layer waits for it.

        Positions and mask, which each rank knows, it copies itself.
        """
        if self.worker.rank == _ROOT:
            yield from self.wait_for_loader()
        yield from self.copy_batch()
        batch_bytes = 16 * self.knobs.token_count * self._rank_count
        yield from self.operators.communicate_first(self._of_all(Collective.SCATTER, "batch", batch_bytes))
        yield from self.operators.communicate_first(self._of_all(Collective.BROADCAST, "buffers", _BUFFER_BYTES))

    def optimizer(self) -> Iterator[Action]:
        """The update, then what the root wants to know, which nobody waits for."""
        yield from super().optimizer()
        sample_bytes = _SAMPLE_BYTES * self._rank_count
        yield from self.operators.communicate(self._of_all(Collective.REDUCE, "statistics", _STATISTICS_BYTES))
        yield from self.operators.communicate(self._of_all(Collective.GATHER, "samples", sample_bytes))

    @property
    def _rank_count(self) -> int:
        return len(self._all.ranks)

    @property
    def _all(self) -> Communicator:
        return self.worker.shared_communicator(Purpose.DATA_PARALLEL)

    def _of_all(self, kind: Collective, what: str, size_bytes: int) -> Rendezvous:
        return self.meeting(f"step {self.number} {what}", kind, self._all, size_bytes, _ROOT)


ROOTED = Parallelism(DATA_PARALLEL.communicators, RootedStep)
"""All ranks have the whole model, as in plain data parallelism."""
