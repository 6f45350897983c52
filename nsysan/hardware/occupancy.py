"""Theoretical occupancy: how many warps of a kernel fit on a multiprocessor at once, as CUDA's calculator counts."""

from __future__ import annotations

from enum import Enum

import msgspec

from nsysan.model.trace import SmLimits

_REGISTERS_PER_WARP = 256
"""Registers are given to warps in units of so many."""
_WARPS_TOGETHER = 4
"""A multiprocessor has four parts, each with as many registers and warps."""
_SHARED_SINCE_AMPERE = 128, 1024
_SHARED_BEFORE = 256, 0
"""The unit in which a block gets shared memory, and what the driver takes for itself beside it."""
_AMPERE = 8


class Limiter(str, Enum):
    """What keeps more blocks of a kernel from a multiprocessor; ``WARPS``: nothing does, it is full of warps."""

    WARPS = "warps"
    BLOCKS = "blocks"
    REGISTERS = "registers"
    SHARED_MEMORY = "shared_memory"


class TheoreticalOccupancy(msgspec.Struct, frozen=True):
    """The share of a multiprocessor's warps that a kernel can have there, and what limits it."""

    frac: float
    limiter: Limiter


def theoretical_occupancy(
    limits: SmLimits, thread_count: int, register_count: int, shared_bytes: int
) -> TheoreticalOccupancy | None:
    """Warps of the blocks that fit / warps that a multiprocessor holds; None where no block fits, or it is damaged.

    ``thread_count`` and ``shared_bytes`` (static and dynamic) are of a block, ``register_count`` of a thread. Whether
    the grid has as many blocks is not asked.
    """
    warp_count = -(-thread_count // limits.threads_per_warp)
    if warp_count <= 0 or register_count < 0 or shared_bytes < 0:
        return None
    fitting = {
        Limiter.WARPS: limits.warp_count // warp_count,
        Limiter.BLOCKS: limits.block_count,
        Limiter.REGISTERS: _by_registers(limits, warp_count, register_count),
        Limiter.SHARED_MEMORY: _by_shared_memory(limits, shared_bytes),
    }
    limiter = min(fitting, key=lambda name: fitting[name])
    if not fitting[limiter]:
        return None
    return TheoreticalOccupancy(fitting[limiter] * warp_count / limits.warp_count, limiter)


def _by_registers(limits: SmLimits, warp_count: int, register_count: int) -> int:
    if not register_count:
        return limits.block_count
    of_warp = -(-register_count * limits.threads_per_warp // _REGISTERS_PER_WARP) * _REGISTERS_PER_WARP
    return limits.register_count // of_warp // _WARPS_TOGETHER * _WARPS_TOGETHER // warp_count


def _by_shared_memory(limits: SmLimits, shared_bytes: int) -> int:
    unit, reserved_bytes = _SHARED_SINCE_AMPERE if limits.compute_major >= _AMPERE else _SHARED_BEFORE
    of_block = -(-(shared_bytes + reserved_bytes) // unit) * unit
    return limits.shared_bytes // of_block if of_block else limits.block_count
