"""Which NVTX ranges mark the training steps of a process: those the user names, or those that number iterations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from nsysan.attribution.grouping import codes_of, rows_by_key
from nsysan.attribution.host import Host
from nsysan.attribution.ranges.names import NameGroups, group_name, numbers_in
from nsysan.attribution.steps.expression import matched_places
from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.distinct import distinct, first_rows
from nsysan.model.tables import ABSENT, NvtxRanges
from nsysan.model.trace import PROCESS_BITS, Trace

FEWEST_MARKERS = 2
"""One marker has no next one to end its step."""

_LIBRARY_DOMAIN = re.compile(
    r"nccl|cccl|cub$|thrust|cu(blas|dnn|sparse|solver|fft|rand|tensor|file|graph)|tensorrt|npp|nvjpeg|nvshmem|ucx|mpi",
    re.IGNORECASE,
)
_LIBRARY_NAME = re.compile(r"(cub|thrust|nccl|cudnn|cublas)\w*(::|[A-Z_])|aten::|autograd::", re.ASCII)
_ITERATION = re.compile(r"(?<!micro)(?<!micro[ _-])(step|iter(ation)?|batch|update)(?![a-z])", re.IGNORECASE)
_SPELLINGS = tuple(
    re.compile(pattern)
    for pattern in (
        r".*\brun_training_batch$",  # Lightning, and NeMo on top of it
        r"(.*[.\]])?(train|training)_step$",  # Megatron, Lightning, the Trainer of Transformers, JAX
        r"XlaModule:.*hlo_module=\w*train_?step\w*.*",  # JAX
        r"DeepSpeedEngine\.step$",
        r"Optimizer\.step#.*",  # PyTorch itself, as emit_nvtx records it whatever the framework
    )
)
_NUMBERED, _SPELT = 0, 1
_PLAIN_NUMBER = re.compile(r"[A-Za-z_]+[ #:=_-]{0,2}\*")
_PART = re.compile(
    r"layer|block|module|stage|head|expert|rank|gpu|chunk|bucket|worker|micro|epoch|group|shard|tile|part",
    re.IGNORECASE,
)
"""What programs number besides iterations."""


class Markers(msgspec.Struct, frozen=True, eq=False):
    """The markers of one process in order of begin, none inside another; ``name`` is what they share."""

    name: str
    start_ns: Int64Array
    end_ns: Int64Array
    name_id: Int64Array


def named_markers(host: Host, spelling: str) -> dict[int, Markers]:
    """The markers that the user names, by global pid: a range's text, the name ranges share, or an expression.

    Raises UsageError where the spelling is none of these.
    """
    chosen = _usable(host) & np.isin(host.ranges.name_id, _matching_ids(host.trace, host.ranges, spelling))
    processes = host.ranges.global_tid & PROCESS_BITS
    found = {
        process: _markers(host, np.flatnonzero(chosen & (processes == process)), spelling)
        for process in distinct(processes[chosen]).tolist()
    }
    return {process: markers for process, markers in found.items() if len(markers.start_ns) >= FEWEST_MARKERS}


def found_markers(host: Host) -> dict[int, Markers]:
    """The markers that each process writes by itself, by global pid; a process that writes none is left out."""
    candidates = list(_candidates(host.range_groups))
    usable = _usable_of_groups(host, [group for group, _, _ in candidates])
    by_group = rows_by_key(host.range_groups.of_row[usable], host.ranges.start_ns[usable])
    best: dict[int, tuple[tuple[int, int], str, Int64Array]] = {}
    for group, name, rank in candidates:
        for nested in _by_thread(host, usable[by_group.of(group)]):
            rows = _outermost(host, nested)
            if len(rows) < FEWEST_MARKERS or not (_is_spelt(rank) or _numbers_iterations(host, rows)):
                continue
            process = int(host.ranges.global_tid[rows[0]]) & PROCESS_BITS
            # the longest are at the top of the loop
            time_ns = int((host.range_ends_ns[rows] - host.ranges.start_ns[rows]).sum())
            candidate = ((rank, -time_ns), name, rows)
            best[process] = min(best.get(process, candidate), candidate, key=_order)
    return {process: _markers(host, rows, name) for process, (_, name, rows) in best.items()}


def lone_marker(host: Host) -> str | None:
    """The text of the longest range that would mark steps by its name, but that stands alone; None without one."""
    groups = host.range_groups
    of_name = [group for group, _, rank in _candidates(groups) if _is_spelt(rank) or rank == _NUMBERED]
    usable = _usable_of_groups(host, of_name)
    counts = np.bincount(groups.of_row[usable], minlength=len(groups.names))
    lone = usable[counts[groups.of_row[usable]] < FEWEST_MARKERS]
    if not len(lone):
        return None
    longest = lone[int((host.range_ends_ns[lone] - host.ranges.start_ns[lone]).argmax())]
    return host.trace.text(int(host.ranges.name_id[longest]))


def _order(candidate: tuple[tuple[int, int], str, Int64Array]) -> tuple[tuple[int, int], str]:
    return candidate[:2]


def _candidates(groups: NameGroups) -> Iterator[tuple[int, str, int]]:
    """Groups of ranges that may mark steps by their name, and with which rank."""
    for group, name in enumerate(groups.names):
        rank = _rank(name)
        if rank is not None:
            yield group, name, rank


def _rank(name: str) -> int | None:
    """How likely a name marks steps, the smaller the likelier; None where it does not."""
    spelling = next((place for place, pattern in enumerate(_SPELLINGS) if pattern.fullmatch(name)), None)
    if spelling is not None:
        return _SPELT + spelling
    if "*" not in name or _LIBRARY_NAME.match(name):
        return None
    if _ITERATION.search(name):
        return _NUMBERED
    return _SPELT + len(_SPELLINGS) if _PLAIN_NUMBER.fullmatch(name) and not _PART.search(name) else None


def _is_spelt(rank: int) -> bool:
    return _SPELT <= rank < _SPELT + len(_SPELLINGS)


def _numbers_iterations(host: Host, rows: Int64Array) -> bool:
    """Whether the texts count up and the ranges hold most of what their process launches meanwhile.

    The last number of a text counts, and grows by one from most ranges to the next: a new epoch may begin anew.
    """
    numbers = [numbers_in(host.trace.text(name_id))[-1:] for name_id in host.ranges.name_id[rows].tolist()]
    if not all(numbers):
        return False
    steps = np.diff([number for (number,) in numbers])
    return bool(2 * (steps == 1).sum() > len(steps)) and _holds_most_launches(host, rows)


def _holds_most_launches(host: Host, rows: Int64Array) -> bool:
    launches_ns = host.launches_ns_of(int(host.ranges.global_tid[rows[0]]) & PROCESS_BITS)
    start_ns, end_ns = host.ranges.start_ns[rows], host.range_ends_ns[rows]
    inside = np.searchsorted(launches_ns, end_ns) - np.searchsorted(launches_ns, start_ns)
    meanwhile = np.searchsorted(launches_ns, end_ns.max()) - np.searchsorted(launches_ns, start_ns.min())
    return bool(2 * inside.sum() > meanwhile)


def _by_thread(host: Host, rows: Int64Array) -> Iterator[Int64Array]:
    """The rows of each thread in order of begin."""
    grouped = rows_by_key(host.ranges.global_tid[rows], host.ranges.start_ns[rows])
    yield from (rows[places] for _, places in grouped.groups())


def _markers(host: Host, rows: Int64Array, name: str) -> Markers:
    """The ranges as markers."""
    rows = _outermost(host, rows)
    return Markers(name, host.ranges.start_ns[rows], host.range_ends_ns[rows], host.ranges.name_id[rows])


def _outermost(host: Host, rows: Int64Array) -> Int64Array:
    """The ranges in order of begin; one that begins before an earlier one has ended is part of that."""
    rows = rows[np.lexsort((-host.range_ends_ns[rows], host.ranges.start_ns[rows]))]
    start_ns, end_ns = host.ranges.start_ns[rows], host.range_ends_ns[rows]
    ended_ns = np.concatenate([start_ns[:1], np.maximum.accumulate(end_ns)[:-1]])
    outermost: Int64Array = rows[start_ns >= ended_ns]
    return outermost


def _usable(host: Host) -> BoolArray:
    """Ranges that the capture holds whole: one cut off is no step."""
    ranges = host.ranges
    whole: BoolArray = (ranges.start_ns >= 0) & (ranges.end_ns != ABSENT) & (ranges.end_ns > ranges.start_ns)
    return whole


def _usable_of_groups(host: Host, groups: Sequence[int]) -> Int64Array:
    """The whole ranges of these groups that no library wrote."""
    is_wanted = np.zeros(len(host.range_groups.names), np.bool_)
    is_wanted[list(groups)] = True
    rows = np.flatnonzero(is_wanted[host.range_groups.of_row] & _usable(host))
    return rows[~_of_library(host, rows)]


def _of_library(host: Host, rows: Int64Array) -> BoolArray:
    """Which of these ranges a library wrote: those of a domain that is called after it."""
    processes, domains = host.ranges.global_tid[rows] & PROCESS_BITS, host.ranges.domain_id[rows]
    domain_of = codes_of(processes, domains)
    firsts = first_rows(domain_of)
    keys = zip(processes[firsts].tolist(), domains[firsts].tolist(), strict=True)
    names = (host.trace.nvtx_domains.get(key, "") for key in keys)
    return np.array([_LIBRARY_DOMAIN.match(name) is not None for name in names], np.bool_)[domain_of]


def _matching_ids(trace: Trace, ranges: NvtxRanges, spelling: str) -> list[int]:
    texts = {name_id: trace.text(name_id) for name_id in distinct(ranges.name_id).tolist()}
    for is_meant in (lambda text: text == spelling, lambda text: group_name(text) == spelling):
        if found := [name_id for name_id, text in texts.items() if is_meant(text)]:
            return found
    name_ids = list(texts)
    return [name_ids[place] for place in matched_places(spelling, list(texts.values()))]
