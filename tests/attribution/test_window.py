"""Which NVTX ranges a spelling means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nsysan.attribution.window import WindowChoice, bounds_of
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.errors import UsageError
from nsysan.synth.export import Export

if TYPE_CHECKING:
    from pathlib import Path


def _export() -> Export:
    """Three "step" ranges in two processes, one of them in a domain of each process's own numbering, one open."""
    export = Export().session(duration_ns=1000)
    export.nvtx_domain(1, "train", pid=100).nvtx_domain(1, "other", pid=200).nvtx_domain(2, "train", pid=200)
    export.nvtx(200, 300, "step", pid=100, domain=1, registered=True).nvtx(100, 150, "step", pid=200, domain=1)
    export.nvtx(400, 500, "step", pid=200, domain=2).nvtx(-50, 30, "early").nvtx(600, None, "open")
    return export.nvtx(700, 800, "a/b@c")


@pytest.mark.parametrize(
    ("spelling", "span"),
    [
        ("step", (100, 500)),
        ("step@train", (200, 500)),
        ("step@other", (100, 150)),
        ("step/0", (100, 300)),  # of each process its first
        ("step/1", (400, 500)),  # only one of them has a second
        ("step@train/0", (200, 500)),
        ("step@other/0", (100, 150)),
        ("early", (0, 30)),  # C48: it began before the capture
        ("open", (600, 1000)),  # it never ended
        ("a/b@c", (700, 800)),
    ],
)
def test_spellings(tmp_path: Path, spelling: str, span: tuple[int, int]) -> None:
    trace = read_trace(_export().write(tmp_path / "r.sqlite"), ReadOptions())

    assert bounds_of(WindowChoice(nvtx_range=spelling), trace) == WindowChoice(*span)


@pytest.mark.parametrize("spelling", ["", "st", "step@nowhere", "step/2", "STEP"])
def test_what_is_not_there_is_refused_with_what_is(tmp_path: Path, spelling: str) -> None:
    trace = read_trace(_export().write(tmp_path / "r.sqlite"), ReadOptions())

    with pytest.raises(UsageError, match="holds no range") as caught:
        bounds_of(WindowChoice(nvtx_range=spelling), trace)

    names = "Most frequent ranges here, with their number: step (3); a/b@c (1); early (1); open (1)."
    domains = " Domains here: other; train." if "nowhere" in spelling else ""
    assert caught.value.hint == names + domains
