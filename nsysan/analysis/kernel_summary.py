"""Which kernels took the time: by name and by class, over all GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nsysan.model.kernels import Collective, KernelClass


@dataclass(frozen=True, slots=True)
class KernelRow:
    """The kernels of one demangled name that ran in the windows.

    ``name`` is safe to show and cut; ``name_hash`` tells apart names that are cut alike. ``total_ns`` is clipped to
    the windows; median and p95 (nearest rank) are of the whole kernels. ``work_frac`` = ``total_ns`` over that of all
    kernels: a share of work, not of time.
    """

    name: str
    name_hash: str
    kernel_class: KernelClass
    collective: Collective | None
    count: int
    gpu_count: int
    total_ns: int
    median_ns: float
    p95_ns: int
    work_frac: float | None


@dataclass(frozen=True, slots=True)
class KernelClassRow:
    """The same for all kernels of a class; ``name_count`` names."""

    kernel_class: KernelClass
    name_count: int
    count: int
    total_ns: int
    median_ns: float
    p95_ns: int
    work_frac: float | None


@dataclass(frozen=True, slots=True)
class OmittedKernels:
    """The names beyond the rows of ``kernels``, summed."""

    name_count: int
    count: int
    total_ns: int


@dataclass(frozen=True, slots=True)
class KernelSummary:
    """Kernels by name and by class, most time first."""

    id: ClassVar[str] = "kernel_summary"

    kernels: tuple[KernelRow, ...]
    kernels_omitted: OmittedKernels
    kernel_classes: tuple[KernelClassRow, ...]
