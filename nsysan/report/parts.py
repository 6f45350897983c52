"""How parts and kernel classes look: one name and one fill for each, wherever they are shown."""

from __future__ import annotations

from nsysan.model.kernels import KernelClass
from nsysan.model.partition import Part
from nsysan.report.elements import Term
from nsysan.report.terms import TERMS

COMPUTE_PARTS = (Part.COMPUTE_ONLY, Part.OVERLAPPED, Part.FUSED)
"""Together they are ``compute_busy``: C + F."""

OTHER_PARTS = tuple(part for part in Part if part not in COMPUTE_PARTS)

_CLASS_FILLS = {
    KernelClass.COMMUNICATION: Part.EXPOSED_COMMUNICATION.value,
    KernelClass.FUSED_COMMUNICATION: Part.FUSED.value,
}


def part_label(part: Part) -> str:
    """The part's name: ``exposed communication``."""
    return part.value.replace("_", " ")


def part_term(part: Part) -> Term:
    """The part's definition."""
    return TERMS[part.value]


def class_label(kernel_class: KernelClass) -> str:
    """The class' name: ``fused communication``."""
    return kernel_class.value.replace("_", " ")


def class_fill(kernel_class: KernelClass) -> str:
    """The fill of the part that kernels of this class make up when nothing else runs.

    Kernels that copy or set memory are compute kernels: only the copies of the copy engines are a part of their own.
    """
    return _CLASS_FILLS.get(kernel_class, Part.COMPUTE_ONLY.value)
