"""What the registries of the rooms hold, for those who read or write a saved run."""

from __future__ import annotations

from nsysan.analysis.registry import analyses
from nsysan.model.results import Result


def result_types() -> tuple[type[Result], ...]:
    """The type of every analysis' result."""
    return tuple(analysis.result_type for analysis in analyses())
