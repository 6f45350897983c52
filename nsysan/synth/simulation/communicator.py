"""The ranks that communicate with each other: communicators, and how a job's ranks are divided into them."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import msgspec

from nsysan.model.purposes import Purpose


class Communicator(msgspec.Struct, frozen=True, order=True):
    """Ranks of the job, in the order in which the communicator numbers them from 0."""

    purpose: Purpose
    ranks: tuple[int, ...]

    @property
    def hash(self) -> int:
        """A 64-bit number that no other communicator of the job has; NCCL draws it at random."""
        return _hash_of(self)

    @property
    def id(self) -> str:
        """The hash as NCCL prints it; JSON's numbers do not hold 64 bits."""
        return f"0x{self.hash:016x}"


@lru_cache(maxsize=1024)
def _hash_of(communicator: Communicator) -> int:
    named = f"{communicator.purpose.value} {communicator.ranks}".encode()
    return int.from_bytes(hashlib.sha256(named).digest()[:8], "little")


def whole(purpose: Purpose, rank_count: int) -> tuple[Communicator, ...]:
    """One communicator of all ranks."""
    return (Communicator(purpose, tuple(range(rank_count))),)


def neighbours(purpose: Purpose, rank_count: int, size: int) -> tuple[Communicator, ...]:
    """Communicators of ``size`` ranks that follow each other. ``size`` divides ``rank_count``."""
    return tuple(Communicator(purpose, tuple(range(first, first + size))) for first in range(0, rank_count, size))


def strided(purpose: Purpose, rank_count: int, stride: int) -> tuple[Communicator, ...]:
    """Communicators of every ``stride``-th rank. ``stride`` divides ``rank_count``."""
    return tuple(Communicator(purpose, tuple(range(first, rank_count, stride))) for first in range(stride))


def largest_divisor(number: int, most: int) -> int:
    """The largest divisor of ``number`` up to ``most``."""
    return max(size for size in range(1, most + 1) if number % size == 0)
