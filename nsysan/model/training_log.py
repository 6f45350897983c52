"""What a training log tells of steps, whoever wrote it."""

from __future__ import annotations

from enum import Enum

import msgspec

from nsysan.model.evidence import EvidenceItem


class LogFormat(str, Enum):
    """Who writes lines of that kind; those that tell most come first."""

    TIMER = "timer"
    MEGATRON = "megatron"
    NEMO = "nemo"
    DEEPSPEED = "deepspeed"
    TORCHTITAN = "torchtitan"
    PROGRESS_BAR = "progress_bar"


class LoggedStep(msgspec.Struct, frozen=True):
    """What a line tells that was written after a step; None where it does not.

    ``run`` counts how often step numbers went back before, ``bar_length`` is what a progress bar counts to. ``wall_ns``
    is when it was written, from any moment on, ``step_ns`` what it says a step takes, ``tokens`` and ``samples`` those
    of one step over all ranks, and ``skipped_count`` the iterations since the line before that updated nothing.
    """

    step: int
    run: int = 0
    bar_length: int | None = None
    wall_ns: int | None = None
    step_ns: float | None = None
    tokens: float | None = None
    tokens_per_s: float | None = None
    tokens_per_gpu_per_s: float | None = None
    samples: float | None = None
    samples_per_s: float | None = None
    skipped_count: int | None = None


class LogSettings(msgspec.Struct, frozen=True):
    """What is said once; None where it is not. ``is_resumed`` where the run goes on from a checkpoint.

    ``sequence_length`` is in tokens, ``samples`` the global batch, and the rates are a whole run's, as it ends.
    """

    sequence_length: int | None = None
    samples: int | None = None
    world_size: int | None = None
    is_resumed: bool = False
    samples_per_s: float | None = None
    tokens_per_gpu_per_s: float | None = None


class TrainingLog(EvidenceItem, kw_only=True, frozen=True):
    """The lines of steps in one file that are of one format.

    ``repeated_count`` lines tell of a step that another line told of already, as when every rank writes one, and
    ``omitted_count`` came after as many as are kept. ``wall_resolution_ns`` is what ``wall_ns`` is rounded to.
    """

    format: LogFormat
    steps: tuple[LoggedStep, ...]
    settings: LogSettings
    repeated_count: int
    omitted_count: int
    wall_resolution_ns: int
