"""The ceilings that were given: whether they are of the traced GPUs, and copies over links against them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec

from nsysan.analysis.collective_row import CollectiveRow
from nsysan.analysis.collectives import Collectives, ranks_apart
from nsysan.analysis.copy_summary import CopyRow, CopySummary
from nsysan.analysis.gemms import Gemms
from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.registry import Analysis
from nsysan.analysis.yardstick import Yardstick, yardstick_of
from nsysan.attribution.job import Job
from nsysan.hardware.answers import Level
from nsysan.hardware.collective_ceilings import without_curve
from nsysan.hardware.link_ceilings import link_ceiling
from nsysan.model.ceilings import Ceilings, Direction, HostMemory, Origin
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import display_text
from nsysan.model.thresholds import ABOVE_CURVE_FACTOR

_DIRECTIONS = {direction.value: direction for direction in Direction}
_HOST_MEMORIES = {memory.value: memory for memory in HostMemory}


class CeilingsOfGpus(msgspec.Struct, frozen=True):
    """GPUs of one kind. ``refused``: why the ceilings tell nothing of them, else null; ``warnings``: what to know."""

    gpus: tuple[str, ...]
    refused: str | None
    warnings: tuple[str, ...]


class CeilingsFile(msgspec.Struct, frozen=True):
    """The file that was given."""

    origin: Origin
    source: str
    created_utc: str | None
    gpus: tuple[CeilingsOfGpus, ...]


class LinkRow(msgspec.Struct, frozen=True):
    """The copies of one direction and host memory, null between GPUs, against what was measured for ``mean_bytes``.

    ``is_above``: they were faster than that, so that it is too low.
    """

    direction: Direction
    host_memory: HostMemory | None
    count: int
    mean_bytes: int
    rate_bytes_per_s: float
    ceiling_bytes_per_s: float
    ceiling_level: Level
    ceiling_source: str
    is_above: bool


class HeldAgainst(msgspec.Struct, frozen=True):
    """What the run was held against. ``ceilings_too_low`` names what was faster than it should be able to."""

    id: ClassVar[str] = "ceilings"

    ceilings: CeilingsFile
    links: tuple[LinkRow, ...]
    ceilings_too_low: tuple[str, ...]


def compute_ceilings(job: Job, results: ResultSet) -> HeldAgainst | Skipped:
    """The ceilings and what was compared with them; skipped where none were given."""
    if not job.gpus:
        return no_gpu_work(HeldAgainst.id, job)
    if job.ceilings is None:
        advice = "Measure them on such a machine with nsysan calibrate, and give them with --ceilings FILE."
        return Skipped(HeldAgainst.id, "no measured ceilings were given, so data sheets stand in for them", advice)
    yardsticks = {gpu.id: yardstick_of(job, gpu) for gpu in job.gpus}
    copies, collectives, gemms = results.get(CopySummary), results.get(Collectives), results.get(Gemms)
    first = yardsticks[job.gpus[0].id]
    links = () if isinstance(copies, Skipped) else tuple(_links(copies.copies, first))
    return HeldAgainst(
        ceilings=CeilingsFile(
            origin=job.ceilings.origin,
            source=display_text(job.ceilings.source),
            created_utc=job.ceilings.created_utc,
            gpus=tuple(_by_match(yardsticks, _collectives_not_told(job, job.ceilings))),
        ),
        links=links,
        ceilings_too_low=(
            *(f"copies {row.direction.value}" for row in links if row.is_above),
            *([] if isinstance(collectives, Skipped) else _fast_collectives(collectives.collectives)),
            *([] if isinstance(gemms, Skipped) else _fast_products(gemms)),
        ),
    )


ANALYSIS = Analysis(HeldAgainst, compute_ceilings, needs=(CopySummary, Collectives, Gemms))


def _collectives_not_told(job: Job, ceilings: Ceilings) -> tuple[str, ...]:
    """What to know of the curves of collectives, of which ranks of another kind are not judged."""
    found = job.collectives
    groups = {ranks_apart(found, one.series.members) for one in found.measured if one.series.is_whole}
    told = without_curve(ceilings, groups)
    return () if told is None else (told,)


def _by_match(yardsticks: dict[str, Yardstick], of_collectives: tuple[str, ...]) -> Iterator[CeilingsOfGpus]:
    """The GPUs of which the same is to be said, together."""
    matches = {yardstick.match for yardstick in yardsticks.values()}
    for match in sorted((match for match in matches if match is not None), key=lambda match: match.refused or ""):
        gpus = tuple(gpu for gpu, yardstick in yardsticks.items() if yardstick.match == match)
        refused = None if match.refused is None else display_text(match.refused)
        warnings = (*match.warnings, *(() if refused else of_collectives))
        yield CeilingsOfGpus(gpus, refused, tuple(map(display_text, warnings)))


def _links(rows: Sequence[CopyRow], yardstick: Yardstick) -> Iterator[LinkRow]:
    for row in rows:
        direction = _DIRECTIONS.get(row.direction)
        sized_count = row.count - row.unsized_count
        if direction is None or not row.rate_bytes_per_s or not row.size_bytes or not sized_count:
            continue
        memory = next((_HOST_MEMORIES[end] for end in (row.src_memory, row.dst_memory) if end in _HOST_MEMORIES), None)
        mean_bytes = row.size_bytes // sized_count
        ceiling = link_ceiling(yardstick.ceilings, None, direction, memory, mean_bytes) if mean_bytes else None
        if ceiling is not None:
            yield LinkRow(
                direction=direction,
                host_memory=memory,
                count=sized_count,
                mean_bytes=mean_bytes,
                rate_bytes_per_s=row.rate_bytes_per_s,
                ceiling_bytes_per_s=ceiling.rate,
                ceiling_level=ceiling.level,
                ceiling_source=ceiling.source,
                is_above=row.rate_bytes_per_s > ABOVE_CURVE_FACTOR * ceiling.rate,
            )


def _fast_collectives(rows: Sequence[CollectiveRow]) -> Iterator[str]:
    for row in rows:
        ceiling, rate = row.ceiling_bytes_per_s, row.busbw_bytes_per_s
        if ceiling is None or rate is None or row.ceiling_level is Level.DATA_SHEET:
            continue
        if rate > ABOVE_CURVE_FACTOR * ceiling:
            yield f"{row.kind} of {len(row.ranks)} ranks, {row.bytes} bytes"


def _fast_products(gemms: Gemms) -> Iterator[str]:
    for row in gemms.gemms:
        if row.ceiling_is_too_low and row.ceiling_level is not Level.DATA_SHEET and row.dtype is not None:
            yield f"{row.dtype.value} {row.m} x {row.n} x {row.k}"
