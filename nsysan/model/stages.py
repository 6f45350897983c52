"""The stages of a training step, and what tells that work belongs to one."""

from __future__ import annotations

from enum import Enum


class Stage(str, Enum):
    """The stages, in the order they are always shown."""

    DATA = "data"
    """Fetching a batch, and work on the GPU that prepares it."""
    HOST_TO_DEVICE_COPY = "host_to_device_copy"
    """Bringing the batch to the GPU."""
    FORWARD = "forward"
    BACKWARD = "backward"
    GRADIENT_SYNC = "gradient_sync"
    """Collectives that reduce gradients over ranks, where nothing hides them."""
    OPTIMIZER = "optimizer"
    """Clipping and the update of the weights."""
    OTHER = "other"
    """Work known to be of none of these: saving, evaluating, what ranges leave out."""


class StageSource(str, Enum):
    """What tells the stage of work, the surest first."""

    RANGES = "ranges"
    """An NVTX range around the launching call says so."""
    KERNELS = "kernels"
    """The kernel's name does, the thread that launched it, or that a collective reduces gradients."""
    ORDER = "order"
    """It was launched among work of the stage."""
