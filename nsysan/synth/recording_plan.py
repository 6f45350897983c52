"""What is recorded of a simulated job, for which release, and how often in a row."""

from __future__ import annotations

from itertools import chain

import msgspec

from nsysan.synth.numbering import Numbering
from nsysan.synth.repetition import Repetition
from nsysan.synth.simulation.timelines import Simulation
from nsysan.synth.system.memory import Footprint
from nsysan.synth.trace_kind import TraceKind

LEAST_PAUSE_NS = 10_000_000
"""From the last thing that happens in a recording to the begin of the next."""
PERIOD_UNIT_NS = 100_000
"""Counters are sampled every 100 us (10 kHz), through all recordings: the period is a multiple of that."""


class RecordingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The schema to write, the kinds of records, how often all of them; ``footprint`` is that of the job's model.

    ``includes_blobs``: with the payloads of NCCL's ranges.
    """

    schema: str
    kinds: frozenset[TraceKind]
    repetition: Repetition
    footprint: Footprint
    includes_blobs: bool = False


def repetition_of(simulation: Simulation, count: int, numbering: Numbering) -> Repetition:
    """``count`` recordings of the job, each long enough for all ranks and a pause."""
    host_ends_ns = (span.end_ns for rank in simulation.ranks for span in rank.spans)
    gpu_ends_ns = (work.end_ns for rank in simulation.ranks for work in rank.works)
    shortest_ns = max(chain(host_ends_ns, gpu_ends_ns)) + LEAST_PAUSE_NS
    period_ns = -(-shortest_ns // PERIOD_UNIT_NS) * PERIOD_UNIT_NS
    return Repetition(count=count, period_ns=period_ns, numbering=numbering)
