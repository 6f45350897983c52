"""The session a rank is recorded in: when it began, and what its machine's clock said then."""

from __future__ import annotations

import random

import msgspec

JOB_START_UTC_NS = 1_700_000_000_000_000_000
LONGEST_LEAD_NS = 5_000_000_000
"""Sessions begin up to this long before the job, each when its own process is ready."""


class Session(msgspec.Struct, frozen=True):
    """Begins at ``start_ns`` of the job's clock, which says 0 where the job begins; the file counts from there.

    The machine's clock is ahead of UTC by ``utc_error_ns``.
    """

    start_ns: int = 0
    utc_error_ns: int = 0

    @property
    def utc_epoch_ns(self) -> int:
        """When the session began, as the machine's clock said."""
        return JOB_START_UTC_NS + self.start_ns + self.utc_error_ns


WITH_THE_JOB = Session()
"""Begins when the job does, on a clock that is right."""


def session_of(rank: int, host: str, seed: int, clock_error_ns: int) -> Session:
    """A session of the rank's own; clocks err by up to ``clock_error_ns``, all on one host alike."""
    lead_ns = random.Random(f"{seed}/session/{rank}").randint(1, LONGEST_LEAD_NS)  # noqa: S311 -- noise, no secret
    error_ns = random.Random(f"{seed}/clock/{host}").randint(-clock_error_ns, clock_error_ns)  # noqa: S311 -- the same
    return Session(-lead_ns, error_ns)
