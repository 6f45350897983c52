"""What the multiprocessors of the GPUs hold, from the properties that PyTorch's profiler writes."""

from __future__ import annotations

from collections.abc import Mapping

from nsysan.model.trace import SmLimits

_BLOCKS = {7: 32, 8: 16, 9: 32, 10: 32, 11: 24, 12: 24}
_BLOCKS_OF_VERSION = {(7, 5): 16, (8, 0): 32, (8, 9): 24, (10, 1): 24, (10, 7): 16}
"""Resident blocks by compute capability (cuda_occupancy.h of CUDA 13): the properties do not tell them."""
_LARGEST = 1 << 31


def sm_limits_of(properties: Mapping[str, object]) -> SmLimits | None:
    """The limits of one entry of ``deviceProperties``; None where one is not told, or the capability is unknown."""
    major, minor = (_count(properties, name, 0) for name in ("computeMajor", "computeMinor"))
    sizes = ("warpSize", "maxThreadsPerMultiprocessor", "regsPerMultiprocessor", "sharedMemPerMultiprocessor")
    warp_size, thread_count, register_count, shared_bytes = (_count(properties, name, 1) for name in sizes)
    block_count = _BLOCKS_OF_VERSION.get((major, minor), _BLOCKS.get(major, -1))
    if -1 in (minor, warp_size, thread_count, register_count, shared_bytes, block_count):
        return None
    return SmLimits(major, warp_size, thread_count // warp_size, block_count, register_count, shared_bytes)


def _count(properties: Mapping[str, object], name: str, least: int) -> int:
    """The number, -1 where none that is possible is told."""
    value = properties.get(name)
    return value if type(value) is int and least <= value < _LARGEST else -1
