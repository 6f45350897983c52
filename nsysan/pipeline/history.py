"""Runs go into a history, and are held against a baseline of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nsysan.history.budgets import Budgets, read_budgets
from nsysan.history.gate import GateResult, judge
from nsysan.history.outlying import repeat_warnings
from nsysan.history.store import Details, Store
from nsysan.model.clock import now_utc
from nsysan.model.errors import UsageError
from nsysan.model.progress import UNWATCHED, Progress
from nsysan.model.text import display_text
from nsysan.model.units import counted
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.pipeline.snapshots import read_snapshots

BUDGETS = Path("nsysan.toml")


class Source(msgspec.Struct, frozen=True):
    """The store, the user's own conditions of the runs, and the nsys that exports reports; None is the newest."""

    store: Path
    conditions: Mapping[str, str] = msgspec.field(default_factory=dict)
    nsys: str | None = None


def keep_runs(
    paths: Sequence[Path],
    source: Source,
    details: Details,
    progress: Progress = UNWATCHED,
) -> dict[str, bool]:
    """The ids of the runs at these paths, each with whether it is new to the store, in which all of them are now."""
    store = Store(source.store)
    store.check_place()
    snapshots = read_snapshots(paths, AnalyzeOptions(nsys=source.nsys), source.conditions, progress)
    added = store.add(snapshots, details)
    return {run_id: run_id in added for run_id in snapshots}


def details_now(
    *, baseline: str | None = None, commit: str | None = None, labels: Mapping[str, str] | None = None
) -> Details:
    """What is said of runs that are added at this moment."""
    shown = [None if text is None else display_text(text) for text in (commit, baseline)]
    return Details(now_utc(), shown[0], labels, shown[1])


def gate_runs(
    paths: Sequence[Path], baseline: str, source: Source, budgets: Path | None, progress: Progress = UNWATCHED
) -> GateResult:
    """The verdict on the runs at these paths against a baseline of the store.

    ``budgets`` is the file that says what may be lost, None ``nsysan.toml`` in the working folder if there is one.
    Raises UsageError where the baseline does not exist or a run is given twice, and what reading raises.
    """
    asked = read_budgets(budgets or BUDGETS) if budgets is not None or BUDGETS.exists() else Budgets()
    history = Store(source.store)
    repeats, latest = history.baseline(baseline), history.latest()
    snapshots = read_snapshots(paths, AnalyzeOptions(nsys=source.nsys), source.conditions, progress)
    if len(snapshots) < len(paths):
        # a run that counts twice would move the median towards itself
        told = f"{counted(len(paths), 'run')} given, of which {len(snapshots)} differ"
        raise UsageError(f"A run is given twice: {told}.", "Give each run once.")
    result = judge(baseline, [run.snapshot for run in repeats], list(snapshots.values()), asked, latest.snapshot)
    return replace(result, warnings=(*repeat_warnings(snapshots, {run.id for run in repeats}), *result.warnings))
