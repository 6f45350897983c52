"""Runs from wherever they lie, as far as they can be compared, by their id in a history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from nsysan.history.identity import run_id_of
from nsysan.history.snapshot import Snapshot, snapshot_of
from nsysan.model.figures import Bearing, Condition
from nsysan.model.progress import UNWATCHED, Progress
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.pipeline.saved_run import run_of


def read_snapshots(
    paths: Sequence[Path], options: AnalyzeOptions, conditions: Mapping[str, str], progress: Progress = UNWATCHED
) -> dict[str, Snapshot]:
    """The run at each path, by id, with ``conditions`` of the user's own that must be equal in runs to compare."""
    own = tuple(Condition(f"user.{key}", key, value, Bearing.FORBIDS) for key, value in conditions.items())
    found = {}
    for path in paths:
        run = run_of(path, options, progress)
        snapshot = snapshot_of(run)
        found[run_id_of(run)] = replace(snapshot, conditions=(*snapshot.conditions, *own))
    return found
