"""Stages and what tells them as small numbers, for columns."""

from __future__ import annotations

from nsysan.model.stages import Stage, StageSource

STAGES = tuple(Stage)
SOURCES = tuple(StageSource)
UNASSIGNED = -1
"""The code of work of no known stage."""


def code_of(stage: Stage) -> int:
    """The place of the stage in ``STAGES``."""
    return STAGES.index(stage)


def source_of(source: StageSource) -> int:
    """The place of the source in ``SOURCES``."""
    return SOURCES.index(source)
