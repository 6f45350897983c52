"""From a hand-written export to its Run, on one line."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from nsysan.model.results import Result, Skipped
from nsysan.pipeline.analyze import AnalyzeOptions, analyze

if TYPE_CHECKING:
    from pathlib import Path

    from nsysan.model.run import Run
    from nsysan.synth.export import Export

AnyResult = TypeVar("AnyResult", bound=Result)


def analyze_exports(folder: Path, *exports: Export, options: AnalyzeOptions | None = None) -> Run:
    """The Run over the exports, written into ``folder`` as rank0.sqlite, rank1.sqlite and so on."""
    paths = [export.write(folder / f"rank{rank}.sqlite") for rank, export in enumerate(exports)]
    return analyze(paths, options or AnalyzeOptions())


def result_of(run: Run, result_type: type[AnyResult]) -> AnyResult:
    """The run's result of this type, which must be there."""
    result = run.results.get(result_type)
    assert not isinstance(result, Skipped), result
    return result
