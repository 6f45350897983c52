"""What is said of kernels: in which shapes they changed, and whether their time holds waiting."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.analysis.collective_figures import COLLECTIVE_TRANSFERS, COLLECTIVE_WAITS
from nsysan.analysis.kernel_shapes import OTHER_SHAPES, STEP_KERNEL_SHAPES
from nsysan.analysis.kernel_summary import KERNEL_MEDIANS
from nsysan.analysis.step_kernels import STEP_KERNELS
from nsysan.attribution.kernel_class import classify, function_name
from nsysan.history.comparison import Comparison
from nsysan.history.differences import Difference
from nsysan.model.kernels import COMMUNICATING
from nsysan.model.units import format_fraction
from nsysan.report.comparison.quantities import signed

_MOST_OF_IT = 0.5
_OTHER_WORK_FRAC = 0.1
"""The share of kernel time in other shapes from which on the runs do other work."""


def communicates(name: str) -> bool:
    """Whether the time of a kernel of this name may be waiting for other ranks."""
    return classify(name).kernel_class in COMMUNICATING


def incomparable_kernels(comparison: Comparison) -> str:
    """That only one run tells kernels, and which; else empty."""
    kernels = comparison.topic(KERNEL_MEDIANS.id)
    if not kernels or comparison.shared_topic(KERNEL_MEDIANS.id):
        return ""
    silent = "after" if kernels[0].after is None else "before"
    return f"Kernels are not comparable: the run {silent} tells none"


def is_told_apart(comparison: Comparison) -> bool:
    """Whether both runs tell waiting and transfer of collectives apart."""
    return all(
        any(one.change is not None for one in comparison.topic(topic.id))
        for topic in (COLLECTIVE_TRANSFERS, COLLECTIVE_WAITS)
    )


def shapes_of(comparison: Comparison, kernel: Difference) -> tuple[Difference, ...]:
    """The kernel's time a step by shape, the largest change first; none where a run does not tell all of its shapes."""
    shapes = [one for one in comparison.topic(STEP_KERNEL_SHAPES.id) if one.part_of == kernel.id]
    is_told_before = kernel.before is None or any(one.before is not None for one in shapes)
    is_told_after = kernel.after is None or any(one.after is not None for one in shapes)
    if not (is_told_before and is_told_after) or any(shape_name(one) == OTHER_SHAPES for one in shapes):
        return ()
    return tuple(sorted(shapes, key=lambda one: -abs(one.moved)))


def shape_name(shape: Difference) -> str:
    """``grid 64x32 block 256``, or the product."""
    return shape.key.partition(".")[2]


def shape_first(shape: Difference) -> str:
    """``grid 64x32 block 256 of flash::flash_fwd_kernel``: where names are cut, the shape is not."""
    shown = shape_name(shape)
    return f"{shown} of {function_name(shape.name.removesuffix(f', {shown}'))}"


def shape_clause(comparison: Comparison, kernel: Difference) -> str:
    """In which shape a kernel changed, where it has several, or another than before: then it is given other work."""
    shapes = shapes_of(comparison, kernel)
    if len(shapes) <= 1 or kernel.change is None:
        return ""
    enough = _MOST_OF_IT * abs(kernel.moved)
    gone, new = _exchanged(shapes)
    if gone and new and abs(sum(one.moved for one in (*gone, *new))) >= enough:
        return f", now {shape_name(new[0])} instead of {shape_name(gone[0])}"
    largest = shapes[0]
    told = f", {signed(largest.moved, largest.unit)} of it in {shape_name(largest)}"
    return told if abs(largest.moved) >= enough else ""


def other_work(comparison: Comparison) -> str:
    """That much of the kernel time is of shapes that the run before did not have, as with another batch; else empty."""
    kernels = comparison.topic(STEP_KERNELS.id)
    exchanged = [(kernel, *_exchanged(shapes_of(comparison, kernel))) for kernel in kernels]
    told = [(kernel, gone, new) for kernel, gone, new in exchanged if gone and new]
    other_ns = sum(one.before or 0.0 for _, gone, _ in told for one in gone)
    total_ns = sum(kernel.before or 0.0 for kernel in kernels)
    if not told or other_ns < _OTHER_WORK_FRAC * total_ns:
        return ""
    kernel, gone, new = max(told, key=lambda one: sum(shape.before or 0.0 for shape in one[1]))
    most = f"{function_name(kernel.name)} now {shape_name(new[0])} instead of {shape_name(gone[0])}"
    return (
        f"Kernels of {format_fraction(other_ns / total_ns)} of the kernel time have other shapes than before, most "
        f"{most}: these runs may not do the same work, as where the batch differs"
    )


def _exchanged(shapes: Sequence[Difference]) -> tuple[list[Difference], list[Difference]]:
    """The shapes that are gone, and those that are new, the largest first."""
    return [one for one in shapes if one.after is None], [one for one in shapes if one.before is None]
