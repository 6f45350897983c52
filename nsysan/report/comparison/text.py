"""A comparison on a screen or two: plain text of at most 100 columns, for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from nsysan import __version__
from nsysan.analysis.kernel_shapes import KERNEL_SHAPE_MEDIANS
from nsysan.analysis.kernel_summary import KERNEL_MEDIANS
from nsysan.analysis.step_kernels import STEP_KERNELS
from nsysan.history.comparison import Comparison
from nsysan.history.differences import Difference
from nsysan.model.figures import Bearing
from nsysan.report.columns import drawn, wrapped
from nsysan.report.comparison.kernels import (
    communicates,
    incomparable_kernels,
    is_told_apart,
    shape_first,
    shape_name,
    shapes_of,
)
from nsysan.report.comparison.quantities import change_text, quantity, relative_text
from nsysan.report.comparison.sentences import (
    obstacle_sentence,
    one_sided_sentence,
    sentences_of,
    state_comparison,
)
from nsysan.report.prose import ended, listed

_KERNEL_COUNT = 6
_SHAPE_COUNT = 2
_HEADS = ("before", "after", "change", "")


def render_text(comparison: Comparison) -> str:
    """Sentences, what the step or the window went to, the kernels that changed most, and what is not comparable."""
    blocks = (
        [line for paragraph in _paragraphs(comparison) for line in wrapped(paragraph)],
        _whole_lines(comparison),
        _kernel_lines(comparison),
        _caution_lines(comparison),
        [f"Written by nsysan {__version__}."],
    )
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _paragraphs(comparison: Comparison) -> tuple[str, ...]:
    runs = f"{listed(comparison.after.reports)} (after) against {listed(comparison.before.reports)} (before)"
    return (runs, ended(state_comparison(comparison)), *sentences_of(comparison))


def _whole_lines(comparison: Comparison) -> list[str]:
    whole = comparison.whole
    if whole is None:
        return []
    moved = [piece for piece in comparison.carriers if piece.before or piece.after]
    rows = [_row(whole.name, whole), *(_row(f"  {piece.name}", piece) for piece in moved)]
    return drawn(("What it consists of, largest change first", *_HEADS), rows)


def _kernel_lines(comparison: Comparison) -> list[str]:
    """A kernel a row, below it its shapes where it has several; without steps a row a kernel and shape."""
    if untold := incomparable_kernels(comparison):
        return [ended(untold)]
    per_step = comparison.shared_topic(STEP_KERNELS.id)
    of_shapes = comparison.shared_topic(KERNEL_SHAPE_MEDIANS.id)
    medians = [replace(one, name=shape_first(one)) for one in of_shapes] or comparison.shared_topic(KERNEL_MEDIANS.id)
    title = "Kernels by change of their time a step" if per_step else "Kernels by change of their median"
    apart = is_told_apart(comparison)
    kernels = [one for one in per_step or medians if one.moved and not (apart and communicates(one.name))]
    moved = sorted(kernels, key=lambda kernel: -abs(kernel.moved))[:_KERNEL_COUNT]
    rows = [row for kernel in moved for row in _kernel_rows(comparison, kernel)]
    return drawn((title, *_HEADS), rows) if rows else []


def _kernel_rows(comparison: Comparison, kernel: Difference) -> Iterator[Sequence[str]]:
    yield _row(f"{kernel.name}{' (and waits)' if communicates(kernel.name) else ''}", kernel)
    shapes = shapes_of(comparison, kernel)
    for shape in shapes[:_SHAPE_COUNT] if len(shapes) > 1 else ():
        if shape.moved:
            yield _row(f"  {shape_name(shape)}", shape)


def _row(name: str, figure: Difference) -> Sequence[str]:
    before, after = ("" if value is None else quantity(value, figure.unit) for value in (figure.before, figure.after))
    return (name, before, after, change_text(figure), relative_text(figure))


def _caution_lines(comparison: Comparison) -> list[str]:
    cautions = [one for one in comparison.obstacles if one.bearing is Bearing.CAUTIONS]
    sentences = (*map(obstacle_sentence, cautions), *map(one_sided_sentence, comparison.one_sided))
    return [line for sentence in sentences for line in wrapped(f"not the same: {ended(sentence)}")]
