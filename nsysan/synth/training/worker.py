"""One rank of a simulated job: its model, its machine, and whom it speaks with."""

from __future__ import annotations

import msgspec

from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import Communicator
from nsysan.synth.training.knobs import Knobs
from nsysan.synth.training.layer import Layer
from nsysan.synth.training.network import Network
from nsysan.synth.training.spelling import Spelling


class Worker(msgspec.Struct, frozen=True, kw_only=True):
    """``rank`` of ``rank_count``; ``knobs`` are its own, layer and network those of the job.

    It adds the kernels it loads to ``loaded``.
    """

    rank: int
    rank_count: int
    seed: int
    knobs: Knobs
    layer: Layer
    network: Network
    spelling: Spelling
    communicators: tuple[Communicator, ...]
    loaded: set[str] = msgspec.field(default_factory=set)

    def communicator(self, purpose: Purpose) -> Communicator | None:
        """The one of that purpose that the rank is in; None where it has nobody to speak with."""
        return next((found for found in self.communicators if found.purpose is purpose), None)

    def shared_communicator(self, purpose: Purpose) -> Communicator:
        """The same where the rank cannot do without. Raises ValueError where it has nobody to speak with."""
        found = self.communicator(purpose)
        if found is None:
            raise ValueError(f"rank {self.rank} has nobody to share {purpose.value} with")
        return found
