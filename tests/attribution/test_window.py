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


ALL_NAMES = "Most frequent ranges here, with their number: step (3); a/b@c (1); early (1); open (1)."
ALIKE = (
    "Similar ranges here, with their number: step (3). "
    "Most frequent ranges here, with their number: a/b@c (1); early (1); open (1)."
)


@pytest.mark.parametrize(
    ("spelling", "hint"),
    [
        ("", ALL_NAMES),
        ("quux", ALL_NAMES),
        ("st", ALIKE),
        ("STEP", ALIKE),
        ("sttep", ALIKE),
        ("st@other", f"{ALIKE} Domains here: default; other; train."),
        ("step@nowhere", "'step' is in the domains: other; train."),
        ("step@default", "'step' is in the domains: other; train."),
        ("step/2", "Ranges of this name are numbered from 0 in each process; the last is 1."),
        ("step@train/1", "Ranges of this name are numbered from 0 in each process; the last is 0."),
    ],
)
def test_what_is_not_there_is_refused_with_what_is(tmp_path: Path, spelling: str, hint: str) -> None:
    trace = read_trace(_export().write(tmp_path / "r.sqlite"), ReadOptions())

    with pytest.raises(UsageError, match="holds no range") as caught:
        bounds_of(WindowChoice(nvtx_range=spelling), trace)

    assert caught.value.hint == hint


def test_domains_without_a_name_are_spelled_as_info_prints_them(tmp_path: Path) -> None:
    export = Export().session(duration_ns=1000).nvtx(100, 200, "step", domain=3).nvtx(400, 500, "step", domain=3)
    trace = read_trace(export.nvtx(10, 20, "step").write(tmp_path / "r.sqlite"), ReadOptions())

    spans = [
        bounds_of(WindowChoice(nvtx_range=spelling), trace)
        for spelling in ("step@domain 3", "step@domain 3/1", "step@default", "step")
    ]
    assert spans == [WindowChoice(*span) for span in ((100, 500), (400, 500), (10, 20), (10, 500))]


def test_operators_are_listed_and_found_by_their_name_alone(tmp_path: Path) -> None:
    export = Export().session(duration_ns=1000).nvtx(0, 5, "step 1").nvtx(6, 9, "step 0").nvtx(6, 9, "step 10")
    for index in range(20):
        export.nvtx(10 * index, 10 * index + 5, f"aten::mm, op_id = {index}, sizes = [[8, 8]]")
    trace = read_trace(export.write(tmp_path / "r.sqlite"), ReadOptions())

    with pytest.raises(UsageError) as caught:
        bounds_of(WindowChoice(nvtx_range="Step"), trace)

    assert caught.value.hint == (
        "Similar ranges here, with their number: step 0 (1); step 1 (1); step 10 (1). "
        "Most frequent ranges here, with their number: aten::mm (20)."
    )
    assert bounds_of(WindowChoice(nvtx_range="aten::mm/3"), trace) == WindowChoice(30, 35)
