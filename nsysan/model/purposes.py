"""What the ranks of a communicator share."""

from __future__ import annotations

from enum import Enum


class Purpose(str, Enum):
    """What is split over the ranks."""

    DATA_PARALLEL = "data_parallel"
    TENSOR_PARALLEL = "tensor_parallel"
    PIPELINE_PARALLEL = "pipeline_parallel"
    EXPERT_PARALLEL = "expert_parallel"
    CONTEXT_PARALLEL = "context_parallel"
