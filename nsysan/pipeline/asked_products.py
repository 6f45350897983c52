"""The products that a calibration is asked to measure: those of a model, or those that a run was seen to do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path

from nsysan.analysis.gemms import Gemms
from nsysan.calibrate.shapes import Shape, shapes_of_model
from nsysan.model.ceilings import Dtype, Transposes
from nsysan.model.errors import InputError
from nsysan.model.progress import UNWATCHED, Progress
from nsysan.model.results import Skipped
from nsysan.model.text import visible_text
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.pipeline.inputs import TORCH_SUFFIXES
from nsysan.pipeline.saved_run import is_saved_run, run_of

MOST_SHAPES = 32
"""Of a run: those with the most time."""

Asked = tuple[tuple[Dtype, Shape], ...]


def asked_products(path: Path, progress: Progress = UNWATCHED) -> Asked:
    """The products of the model whose ``config.json`` this is, else those of the run: a ``run.json`` or a report.

    Raises InputError where it is none of these, or tells no shapes.
    """
    if _is_config(path):
        return tuple(product(Dtype, shapes_of_model(path)))
    found = run_of(path, AnalyzeOptions(only=(Gemms.id,)), progress).results.get(Gemms)
    if isinstance(found, Skipped):
        raise InputError(f"{visible_text(path.name)} tells no products: {found.reason}.", found.recapture or "")
    return tuple(_of_run(found))


def _is_config(path: Path) -> bool:
    name = path.name.lower()
    return name.endswith(".json") and not name.endswith(TORCH_SUFFIXES) and not is_saved_run(path)


def _of_run(found: Gemms) -> Iterator[tuple[Dtype, Shape]]:
    """In BLAS' column order, in which m and n change places, and in each way of transposing: no trace tells which."""
    single = [(row.dtype, row) for row in found.gemms if row.batch == 1 and row.dtype is not None and not row.refused]
    for (dtype, row), way in product(single[:MOST_SHAPES], Transposes):
        yield dtype, Shape(row.n, row.m, row.k, way)
