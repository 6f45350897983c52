"""Writes a line of JSON a step, for ``nsysan analyze --evidence``: copy this class into a training program."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class StepTimer:
    """Appends to the file at ``path``, one for each rank that writes; steps are numbered from ``first_step`` on."""

    def __init__(self, path: str | Path, first_step: int = 0) -> None:
        self._path, self._step = Path(path), first_step

    @contextmanager
    def step(self, **figures: float) -> Iterator[None]:
        """Time a step: ``with timer.step(tokens=4096, samples=8):``, both over all ranks."""
        begin_s = time.perf_counter()
        yield
        step_s = time.perf_counter() - begin_s
        told = {"nsysan_timer": 1, "step": self._step, "time_s": time.time(), "step_s": step_s, **figures}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(told) + "\n")
        self._step += 1
