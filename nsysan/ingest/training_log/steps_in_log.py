"""The steps that lines tell of, each once and in order, however many ranks and lines tell of it."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.model.training_log import LoggedStep

MOST_STEPS = 1 << 17
_FIGURES = (
    "wall_ns",
    "step_ns",
    "tokens",
    "tokens_per_s",
    "tokens_per_gpu_per_s",
    "samples",
    "samples_per_s",
    "skipped_count",
)


class StepsInLog:
    """Takes steps as their lines come.

    A line of the same step as the one before adds what that did not tell. One of the step before that is a rank that
    writes late. A step further back is a run that begins again.
    """

    def __init__(self) -> None:
        self.steps: list[LoggedStep] = []
        self.repeated_count = 0
        self.omitted_count = 0
        self._run = 0

    def take(self, found: LoggedStep) -> None:
        """Add what a line tells."""
        if self.steps and found.step == self.steps[-1].step:
            self._complete(found)
        elif len(self.steps) > 1 and self._is_late(found):
            self.repeated_count += 1
        elif len(self.steps) >= MOST_STEPS:
            self.omitted_count += 1
        else:
            self._run += bool(self.steps) and found.step < self.steps[-1].step
            self.steps.append(replace(found, run=self._run))

    def _is_late(self, found: LoggedStep) -> bool:
        last, before = self.steps[-1], self.steps[-2]
        return found.step == before.step and before.run == last.run

    def _complete(self, found: LoggedStep) -> None:
        last = self.steps[-1]
        new = {
            name: getattr(found, name)
            for name in _FIGURES
            if getattr(last, name) is None and getattr(found, name) is not None
        }
        if new:
            self.steps[-1] = replace(last, **new)
        else:
            self.repeated_count += 1
