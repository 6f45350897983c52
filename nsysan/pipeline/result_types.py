"""Every type of result that a saved run may hold: of the analyses, and of what is computed from them."""

from __future__ import annotations

from nsysan.analysis.registry import result_types as analysis_types
from nsysan.model.results import Result
from nsysan.planning.throughput import Throughput


def result_types() -> tuple[type[Result], ...]:
    """The types, those of the analyses first."""
    return (*analysis_types(), Throughput)
