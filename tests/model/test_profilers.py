"""What to record again is said for the profiler that was used."""

from __future__ import annotations

import pytest

from nsysan.ingest import readers
from nsysan.ingest.reader import Reader
from nsysan.model.profilers import Profiler, Recapture, profiler_of
from nsysan.model.registry import discover

BOTH = "With Nsight Systems: A. With PyTorch's profiler: B."


@pytest.mark.parametrize(
    ("used", "sentence"),
    [((), "A."), ((Profiler.NSYS,), "A."), ((Profiler.TORCH,), "B."), ((Profiler.TORCH, Profiler.NSYS), BOTH)],
)
def test_the_sentence_is_that_of_the_profiler(used: tuple[Profiler, ...], sentence: str) -> None:
    assert Recapture(nsys="A.", torch="B.").by(used) == sentence


def test_every_reader_reads_the_traces_of_one_profiler() -> None:
    found = {reader.id: profiler_of(reader.id) for reader in discover(readers, "READER", Reader)}

    assert found == {
        "nsys_folder": Profiler.NSYS,
        "nsys_report": Profiler.NSYS,
        "nsys_sqlite": Profiler.NSYS,
        "torch_profile": Profiler.TORCH,
    }
