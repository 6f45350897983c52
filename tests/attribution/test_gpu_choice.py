"""A GPU that is not there is refused with those that are, and no more of them than can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.attribution.job import build_job
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.errors import UsageError
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("gpu_count", "hint"),
    [
        (0, "GPUs here: none."),
        (2, "GPUs here: gpu0 (unnamed), gpu1 (unnamed)."),
        (14, f"GPUs here: {', '.join(f'gpu{index} (unnamed)' for index in range(12))} and 2 more."),
    ],
)
def test_the_gpus_that_are_there_are_listed(tmp_path: Path, gpu_count: int, hint: str) -> None:
    """C71."""
    export = Export()
    for device in range(gpu_count):
        export.kernel(0, 9, "k", device=device)
    trace = read_trace(export.write(tmp_path / "r.sqlite"), ReadOptions())

    with pytest.raises(UsageError, match="There is no GPU '99'") as caught:
        build_job([trace], gpu="99")

    assert caught.value.hint == hint
