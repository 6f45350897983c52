"""Kernels of the backward pass that repeat what the forward pass ran: activations computed again."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from nsysan.model.arrays import BoolArray, Int64Array
from nsysan.model.distinct import NOWHERE, Distinct, coded
from nsysan.model.thresholds import REPEATED_RUN_KERNELS, REPEATED_RUN_NAMES

_FORWARD_KERNEL = re.compile(r"forward|fwd", re.IGNORECASE)
_BACKWARD_KERNEL = re.compile(r"backward|bwd", re.IGNORECASE)


def named_forward(names: Sequence[str]) -> BoolArray:
    """Which kernels say of themselves that they are of a forward pass."""
    said = [_FORWARD_KERNEL.search(name) is not None and _BACKWARD_KERNEL.search(name) is None for name in names]
    return np.array(said, np.bool_)


def repeated(name_of: Int64Array, in_backward: BoolArray, says_forward: BoolArray) -> BoolArray:
    """Which kernels, in order of launch, are of the backward and repeat the forward.

    Such are runs of at least ``REPEATED_RUN_KERNELS`` kernels in a row of which the forward has the same run by name;
    at least one of their names must be in no other place of the backward, for what a backward needs anyway it has
    everywhere. And kernels that say they are of a forward. ``says_forward`` is by name.
    """
    backward = np.flatnonzero(in_backward)
    candidates = np.zeros(len(name_of), np.bool_)
    candidates[backward[_in_common_runs(name_of[backward], name_of[~in_backward])]] = True
    elsewhere = np.zeros(len(says_forward), np.bool_)
    elsewhere[name_of[in_backward & ~candidates]] = True
    distinctive = candidates & ~elsewhere[name_of]
    found = candidates & _in_runs_with(candidates[backward], distinctive[backward], backward, len(name_of))
    kernels: BoolArray = found | (in_backward & says_forward[name_of])
    return kernels


def _in_common_runs(backward: Int64Array, forward: Int64Array) -> BoolArray:
    """Which kernels of the backward lie in a run that the forward has too."""
    inside = np.zeros(len(backward), np.bool_)
    if min(len(backward), len(forward)) < REPEATED_RUN_KERNELS:
        return inside
    codes = _runs(np.concatenate([backward, forward]))
    of_forward = Distinct.of(codes[len(backward) :])
    shared = np.flatnonzero(of_forward.places(codes[: len(backward) - REPEATED_RUN_KERNELS + 1]) != NOWHERE)
    ordered = np.sort(np.lib.stride_tricks.sliding_window_view(backward, REPEATED_RUN_KERNELS)[shared], axis=1)
    various = (np.diff(ordered, axis=1) != 0).sum(axis=1) + 1 >= REPEATED_RUN_NAMES
    begins = shared[various]
    inside[(begins[:, None] + np.arange(REPEATED_RUN_KERNELS)).ravel()] = True
    return inside


def _runs(names: Int64Array) -> Int64Array:
    """A number for the kernels from each on that make a run, equal where their names are."""
    codes, name_count = names.astype(np.int64), int(names.max()) + 1
    code_count = name_count
    for place in range(1, REPEATED_RUN_KERNELS):
        if code_count > np.iinfo(np.int64).max // name_count:
            values, codes = coded(codes)
            code_count = len(values)
        codes = codes[:-1].astype(np.int64) * name_count + names[place:]
        code_count *= name_count
    return codes


def _in_runs_with(candidates: BoolArray, distinctive: BoolArray, rows: Int64Array, count: int) -> BoolArray:
    """Which kernels are in a run of candidates that holds a distinctive one; all of ``count``, of which ``rows``."""
    run_of = np.cumsum(np.concatenate([[0], np.diff(candidates.astype(np.int8)) != 0])[: len(candidates)])
    holds = np.zeros(int(run_of.max(initial=0)) + 1, np.bool_)
    holds[run_of[distinctive]] = True
    found = np.zeros(count, np.bool_)
    found[rows] = holds[run_of]
    return found
