"""Feed-forward parts replaced by experts, one a rank: each token goes to two of them, wherever they are, and back.

Which experts the tokens want is up to them: where one is wanted more, its rank computes longer, and all others wait for
what it sends back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from nsysan.model.errors import UsageError
from nsysan.model.kernels import Collective
from nsysan.model.purposes import Purpose
from nsysan.synth.simulation.communicator import Communicator, largest_divisor, neighbours, whole
from nsysan.synth.simulation.gemm import GemmShape
from nsysan.synth.simulation.program import Action, Message, Rendezvous
from nsysan.synth.training import kernels
from nsysan.synth.training.job import Parallelism
from nsysan.synth.training.knobs import STRAGGLER_RANK
from nsysan.synth.training.layer import GRADIENT_BYTES
from nsysan.synth.training.layer_program import LayerProgram
from nsysan.synth.training.training_step import TrainingStep
from nsysan.synth.training.worker import Worker

_MOST_EXPERTS = 8
_EXPERTS_OF_A_TOKEN = 2
_BYTES_PER_ELEMENT = 2


class ExpertParallelStep(TrainingStep):
    """Two all-to-alls a layer and pass, one to the experts and one back, which nothing hides."""

    def __init__(self, worker: Worker, number: int) -> None:
        experts = worker.shared_communicator(Purpose.EXPERT_PARALLEL)
        super().__init__(worker, number)
        self._experts = experts
        self._wanted = _wanted(experts, worker.layer.token_count * _EXPERTS_OF_A_TOKEN, worker.knobs.hot_expert_load)
        own = self._wanted[experts.ranks.index(worker.rank)] * len(experts.ranks)
        self._expert = LayerProgram(self.operators, replace(worker.layer, token_count=own))

    def forward_layer(self, index: int) -> Iterator[Action]:
        """The attention, and the experts."""
        yield from self.layer.attention()
        yield from self.layer.residual()
        yield from self._route()
        yield from self._exchange(f"layer {index} dispatch", returns=False)
        yield from self._expert.feed_forward()
        yield from self._exchange(f"layer {index} combine", returns=True)
        yield from self.layer.residual()

    def backward_layer(self, index: int) -> Iterator[Action]:
        """The same backwards."""
        yield from self._exchange(f"layer {index} combine gradient", returns=False)
        yield from self._expert.feed_forward_backward()
        yield from self._exchange(f"layer {index} dispatch gradient", returns=True)
        yield from self.layer.norm_backward()
        yield from self.layer.attention_backward()
        yield from self.layer.norm_backward()

    @property
    def reduced_gradient_bytes(self) -> int:
        """Those of the attention: an expert's weights are one rank's alone."""
        query, output, _, _ = self.worker.layer.gemms
        return GRADIENT_BYTES * (query.n * query.k + output.n * output.k)

    def _route(self) -> Iterator[Action]:
        """Which experts each token wants."""
        layer, expert_count = self.worker.layer, len(self._experts.ranks)
        yield from self.operators.gemm(GemmShape(layer.token_count, expert_count, layer.hidden_size))
        score_bytes = _BYTES_PER_ELEMENT * layer.token_count * expert_count
        yield from self.operators.memory_bound("aten::topk", kernels.TOP_K, 2 * score_bytes)

    def _exchange(self, what: str, *, returns: bool) -> Iterator[Action]:
        """Tokens on their way to the experts, or back."""
        token_bytes = _BYTES_PER_ELEMENT * self.worker.layer.hidden_size
        ranks = self._experts.ranks
        pairs = [(home, ranks[place], count) for home in ranks for place, count in enumerate(self._wanted)]
        messages = tuple(
            Message(expert, home, count * token_bytes) if returns else Message(home, expert, count * token_bytes)
            for home, expert, count in pairs
        )
        meeting = Rendezvous(
            key=f"step {self.number} {what}",
            collective=Collective.ALL_TO_ALL,
            communicator=self._experts,
            size_bytes=sum(self._wanted) * token_bytes,
            transfer_ns=self.worker.network.messages_ns(messages),
            messages=messages,
        )
        yield from self.operators.communicate_first(meeting)


def _wanted(experts: Communicator, token_count: int, hot_load: float) -> Sequence[int]:
    """How many of a rank's tokens each expert gets; what the hot one has too much is missing evenly elsewhere."""
    expert_count = len(experts.ranks)
    if STRAGGLER_RANK not in experts.ranks:
        return [token_count // expert_count] * expert_count
    hot = round(token_count * hot_load / expert_count)
    cold = (token_count - hot) // (expert_count - 1)
    return [hot if rank == STRAGGLER_RANK else cold for rank in experts.ranks]


def _communicators(rank_count: int) -> tuple[Communicator, ...]:
    expert_count = largest_divisor(rank_count, _MOST_EXPERTS)
    if expert_count == 1:
        raise UsageError(f"{rank_count} ranks cannot share experts in equal groups.", "Give an even number of ranks.")
    return (
        *neighbours(Purpose.EXPERT_PARALLEL, rank_count, expert_count),
        *whole(Purpose.DATA_PARALLEL, rank_count),
    )


EXPERT_PARALLEL = Parallelism(_communicators, ExpertParallelStep)
"""Groups of up to eight experts; gradients of the attention are reduced over all ranks, those of experts over none."""
