"""What a simulated training job is like: the size of its model, and how well host, data, network and GEMMs do."""

from __future__ import annotations

import msgspec

STRAGGLER_RANK = 1
"""The rank that is slow where one is."""


class Knobs(msgspec.Struct, frozen=True, kw_only=True):
    """One training job. A scenario turns some knobs to bring its cause about, and back to take the cause away."""

    layer_count: int = 4
    hidden_size: int = 4_096
    token_count: int = 16_384
    """Tokens per rank and step."""
    loader_ns: int = 200_000
    """Time the loop waits for its next batch, every step."""
    bus_bytes_per_s: float | None = 450e9
    """What the all-reduce of gradients reaches (nccl-tests' busbw); None: it takes no time."""
    python_ns: int = 4_000
    """Host time of an operator besides its launch call."""
    launch_ns: int = 4_000
    """Host time of a launch call."""
    logs_each_layer: bool = False
    """Whether the host computes and logs a statistic after each layer, which takes ``logging_ns``."""
    logging_ns: int = 400_000
    reads_back: bool = False
    """Whether that logging fetches a value from the GPU first, and so waits for it."""
    gemm_efficiency: float = 0.99
    """Share of its ceiling that a GEMM reaches; at 1.0 each takes exactly FLOP / ceiling."""
    allocation_ns: int = 0
    """Time of a cudaMalloc before each layer's forward, after a cudaFree that waits for the GPU; 0: neither."""
    pageable_bytes: int = 0
    """What is copied from pageable memory before each layer's forward, as a mask made on the host is."""
    module_load_ns: int = 0
    """Time to load the code of each kernel before its first launch; 0: all of it was loaded before."""
    captures_layers: bool = False
    """Whether forward and backward of each layer are launched as a CUDA graph each, recorded as a whole."""
    recomputes: bool = False
    """Whether activations are not kept: each layer's backward runs its forward again first."""
    microbatch_count: int = 1
    """Into how many parts a pipeline, or accumulation, cuts the tokens of a step."""
    reduces_each_part: bool = True
    """Whether accumulation reduces gradients after every part, as without no_sync(), and not only after the last."""
    gradient_share: float = 1.0
    """What of a layer's gradients a rank reduces: less where ranks of its node share the model."""
    alike_ranks: int = 1
    """For how many ranks each simulated one stands: a collective takes as long as over so many times its ranks."""
    stages_wait: bool = True
    """Whether a pipeline's stages wait for each other's tensors; else each has them at hand before they are sent."""
    hot_expert_load: float = 1.0
    """How many times their even share of tokens the experts of ``STRAGGLER_RANK`` get."""
    kernel_slowdown: float = 1.0
    """How many times longer every kernel takes, as on a GPU whose clock is throttled."""
    contention_slowdown: float = 1.0
    """How many times longer the kernels of the backward take from the first reduction of gradients on, beside which
    they run."""
    streaming_count: int = 0
    """How many elementwise kernels in a row read and write the activations after each layer's forward."""
    reads_loss: bool = False
    """Whether the host reads the loss back before the backward, and so does not run ahead of the GPU."""
    pause_ns: int = 0
    """How long the host of one rank does something else then, as a garbage collector does; the ranks take turns."""
    pause_period: int = 1
    """Every how many steps a rank pauses."""
    checkpoint_period: int = 0
    """After every how many steps all ranks copy weights and moments to the host; 0: never."""
    straggler: Knobs | None = None
    """What ``STRAGGLER_RANK`` is like instead, for it is slow; the model's size is that of the job."""

    @property
    def slow_rank(self) -> int | None:
        """The one rank that holds the others up; None where all are alike."""
        return STRAGGLER_RANK if self.straggler is not None or self.hot_expert_load > 1 else None

    def of_rank(self, rank: int) -> Knobs:
        """The knobs of one rank."""
        return self.straggler if self.straggler is not None and rank == STRAGGLER_RANK else self
