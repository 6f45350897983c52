"""A run as tables for notebooks: GPUs, devices, collectives, ranks, stragglers, kernels and copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.copy_summary import CopySummary
from nsysan.analysis.gpu_time import GpuTime
from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.analysis.rank_waits import RankWaits
from nsysan.analysis.stragglers import Stragglers
from nsysan.model.results import Result
from nsysan.model.run import Run

if TYPE_CHECKING:
    import pandas as pd

_TABLES: dict[str, type[Result]] = {
    "gpus": GpuTime,
    "devices": GpuTime,
    "kernels": KernelSummary,
    "copies": CopySummary,
    "collectives": Collectives,
    "ranks": Collectives,
    "rank_waits": RankWaits,
    "stragglers": Stragglers,
}
"""The key of run.json that each table holds, and the result it is of."""


def tables_of(run: Run) -> dict[str, pd.DataFrame]:
    """The lists of run.json with one row an entry; what lies in an object is a column named ``outer.inner``.

    A list that is empty, or was not answered, has no table.
    """
    import pandas as pd

    known = {type(result): msgspec.to_builtins(result) for result in run.results.found()}
    found = {name: known.get(of, {}).get(name, ()) for name, of in _TABLES.items()}
    return {name: pd.DataFrame([_flat(row) for row in rows]) for name, rows in found.items() if rows}


def _flat(row: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{key}."))
        else:
            flat[f"{prefix}{key}"] = value
    return flat
