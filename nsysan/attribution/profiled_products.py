"""Shapes of matrix products from PyTorch's profiler, for the same launches in a trace that tells no shapes."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.host import Host
from nsysan.attribution.job import build_job
from nsysan.attribution.kernels_of_class import are_of_class
from nsysan.attribution.launch_order import kernel_names, period_of, places_of_names
from nsysan.attribution.told_shapes import Sides, ToldShapes, operators_of
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.kernels import KernelClass
from nsysan.model.profiled import ProfiledTrace
from nsysan.model.text import display_text
from nsysan.timeline.labelling import NOBODY


class ProfiledShapes(msgspec.Struct, frozen=True, eq=False):
    """The kernels that PyTorch's profiler recorded, in the order of their launches, up to where that repeats.

    By kernel: its name, what its operator multiplies (None where nothing tells), and the place of the operator's first
    kernel. All that compute are there: many products have kernels of one name, and what runs between tells them apart.
    """

    name: str
    rank: int | None
    kernel_names: tuple[str, ...]
    sides: tuple[Sides | None, ...]
    first_place: Int64Array

    def operators_in(self, host: Host, launched: Int64Array, rows: Int64Array) -> Int64Array | None:
        """By kernel of a report the number of its operator, NOBODY where no shape is known; None where they do not fit.

        ``launched`` are all kernels of a device, ``rows`` those asked for.

        The number is the operator's place plus the profile's length for each run through it.
        """
        launched = _in_launch_order(host, launched)
        places = places_of_names(self.kernel_names, kernel_names(host, launched))
        if places is None:
            return None
        by_row = np.argsort(launched)
        return self._numbered(places)[by_row[np.searchsorted(launched[by_row], rows)]]

    def names_of(self, operators: Int64Array) -> IdArray:
        """The places of these operators in the profile."""
        return operators % len(self.sides)

    def sides_of(self, names: IdArray) -> list[Sides]:
        """What the operators at these places multiply."""
        found = [self.sides[place] for place in names.tolist()]
        return [sides for sides in found if sides is not None]

    def differing_from(self, other: ProfiledShapes) -> tuple[int, int] | None:
        """Of how many launches the two tell different products, and of how many both tell one.

        None where their launches are not the same.
        """
        places = places_of_names(self.kernel_names, other.kernel_names)
        if places is None:
            return None
        told = [
            (self.sides[place], sides)
            for place, sides in zip(places.tolist(), other.sides, strict=True)
            if place != NOBODY and sides is not None and self.sides[place] is not None
        ]
        return sum(one != another for one, another in told), len(told)

    def _numbered(self, places: Int64Array) -> Int64Array:
        """The operators at these places of the profile, told apart by the run through it."""
        length = len(self.sides)
        first = int(np.flatnonzero(places != NOBODY)[0])
        run = (np.arange(len(places)) + (int(places[first]) - first) % length) // length
        here = np.maximum(places, 0)
        is_known = np.array([sides is not None for sides in self.sides], np.bool_)[here] & (places != NOBODY)
        return np.where(is_known, self.first_place[here] + run * length, NOBODY)


def profiled_shapes(profiled: ProfiledTrace) -> ProfiledShapes | None:
    """What the profiler recorded of products on its first device; None where it tells no shapes."""
    trace, job = profiled.trace, build_job([profiled.trace])
    if not job.gpus or trace.kernels is None:
        return None
    device = job.gpus[0].devices[0]
    told = job.told_shapes[device.report]
    rows = _in_launch_order(told.host, device.rows_of("kernels").astype(np.int64))
    range_of = operators_of(told, rows)
    if not np.any(range_of != NOBODY):
        return None
    names, sides = kernel_names(told.host, rows), _known_sides(told, range_of)
    codes: dict[object, int] = {}
    kinds = [codes.setdefault(kind, len(codes)) for kind in zip(names, sides, strict=True)]
    period = period_of(np.array(kinds, np.int64))
    # a kernel without an operator is one of its own
    operators = np.where(range_of == NOBODY, NOBODY - 1 - np.arange(len(rows)), range_of)[:period]
    _, first, place_of = np.unique(operators, return_index=True, return_inverse=True)
    name = display_text(profiled.name)
    return ProfiledShapes(name, trace.rank, tuple(names[:period]), tuple(sides[:period]), first[place_of.reshape(-1)])


def _known_sides(told: ToldShapes, range_of: Int64Array) -> list[Sides | None]:
    known = range_of != NOBODY
    found = iter(told.sides_of(told.names_of(range_of[known])))
    return [next(found) if is_known else None for is_known in known.tolist()]


def _in_launch_order(host: Host, rows: Int64Array) -> Int64Array:
    """The kernels that compute, by the begin of the call that launched each, else by their own.

    Those that communicate are left out: with how many ranks a job runs changes them.
    """
    kernels = host.trace.kernels
    assert kernels is not None, "there are rows of them"
    rows = rows[~are_of_class(host.trace, kernels.name_id[rows], KernelClass.COMMUNICATION)]
    return rows[np.argsort(host.kernels_launched_ns[rows], kind="stable")]
