"""GPU records that a trace ought to hold and that nobody can count."""

from __future__ import annotations

import msgspec

from nsysan.model.thresholds import MISSING_FRAC
from nsysan.model.units import counted, format_count


class MissingRecords(msgspec.Struct, frozen=True):
    """Of one kind of GPU records those that are known to be missing, more than none, and those that are used."""

    missing_count: int
    usable_count: int

    @property
    def missing_frac(self) -> float:
        """The missing ones as a share of all."""
        return self.missing_count / self.count

    @property
    def count(self) -> int:
        """All that there must have been."""
        return self.missing_count + self.usable_count

    @property
    def is_much(self) -> bool:
        """Whether so many are missing that the others give bounds only."""
        return self.missing_frac >= MISSING_FRAC

    def described(self, noun: str) -> str:
        """How many of these records, called by the noun, are missing: ``3 of 12 kernels left no usable record``."""
        return f"{format_count(self.missing_count)} of {counted(self.count, noun)} left no usable record"
