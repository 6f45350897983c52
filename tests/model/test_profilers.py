"""What to record again is said for the profiler that was used."""

from __future__ import annotations

import pytest

from nsysan.model.profilers import Profiler, Recapture

BOTH = "With Nsight Systems: A. With PyTorch's profiler: B."


@pytest.mark.parametrize(
    ("used", "sentence"),
    [((), "A."), ((Profiler.NSYS,), "A."), ((Profiler.TORCH,), "B."), ((Profiler.TORCH, Profiler.NSYS), BOTH)],
)
def test_the_sentence_is_that_of_the_profiler(used: tuple[Profiler, ...], sentence: str) -> None:
    assert Recapture(nsys="A.", torch="B.").by(used) == sentence
