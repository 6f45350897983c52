"""Data parallelism in which attention and feed-forward part of a layer run side by side, on a stream each.

Models whose layers add both to the same input (as GPT-J and PaLM do) allow that.
"""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.synth.simulation.program import Action
from nsysan.synth.training.job import DATA_PARALLEL, Parallelism
from nsysan.synth.training.operators import MAIN_STREAM, after, on_stream
from nsysan.synth.training.training_step import TrainingStep

BRANCH_STREAM = 15


class BranchedStep(TrainingStep):
    """Each layer forks after its input is there, and joins before its sum."""

    def forward_layer(self, index: int) -> Iterator[Action]:
        """Both parts at once, then the sum of both."""
        yield from self._side_by_side(f"forward {index}", self.layer.feed_forward(), self.layer.attention())
        yield from self.layer.residual()

    def backward_layer(self, index: int) -> Iterator[Action]:
        """The gradients of both at once, then of the norm before them."""
        feed_forward, attention = self.layer.feed_forward_backward(), self.layer.attention_backward()
        yield from self._side_by_side(f"backward {index}", feed_forward, attention)
        yield from self.layer.norm_backward()

    def _side_by_side(self, what: str, aside: Iterator[Action], main: Iterator[Action]) -> Iterator[Action]:
        event = f"step {self.number} {what}"
        yield from after(MAIN_STREAM, BRANCH_STREAM, f"{event} forks")
        yield from on_stream(BRANCH_STREAM, aside)
        yield from main
        yield from after(BRANCH_STREAM, MAIN_STREAM, f"{event} joins")


BRANCHED = Parallelism(DATA_PARALLEL.communicators, BranchedStep)
"""All ranks have the whole model, as in plain data parallelism."""
