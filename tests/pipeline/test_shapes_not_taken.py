"""That no shapes are taken from a profile is said, and why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.report.formats.text import render_text
from nsysan.synth.export import Export
from tests.runs import analyze_exports

GEMM = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64"
SIZES = [[8, 4], [4, 2]]


def profile(*, sizes: object) -> str:
    """One product, its operator around the launch."""
    inputs = {} if sizes is None else {"Input Dims": sizes}
    entries = [
        ("cpu_op", "aten::mm", 1, 8, {"External id": 1, **inputs}),
        ("cuda_runtime", "cudaLaunchKernel", 2, 2, {"correlation": 5, "External id": 1}),
        ("kernel", GEMM, 6, 4, {"correlation": 5, "External id": 1, "device": 0, "stream": 7}),
    ]
    events = [
        {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": args}
        for cat, name, ts, dur, args in entries
    ]
    return json.dumps({"schemaVersion": 1, "traceEvents": events})


@pytest.mark.parametrize(
    ("export", "sizes", "why"),
    [
        (
            Export().kernel(0, 9_000, "another_gemm_kernel"),
            SIZES,
            "the launches of kernels there do not fit those of the report, so it may be another job",
        ),
        (
            Export().kernel(0, 9_000, GEMM),
            None,
            "none are told there; record with record_shapes=True",
        ),
        (
            Export()
            .nvtx(0, 9_000, f"aten::mm, op_id = 7, sizes = {SIZES}")
            .call(10, 500, "cudaLaunchKernel", correlation=1)
            .kernel(1_000, 8_000, GEMM, correlation=1),
            SIZES,
            "the report tells them itself",
        ),
    ],
    ids=["another job", "no shapes", "shapes in the report"],
)
def test_why_no_shapes_are_taken(tmp_path: Path, export: Export, sizes: object, why: str) -> None:
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(profile(sizes=sizes))

    run = analyze_exports(tmp_path, export, options=AnalyzeOptions(evidence=(path,)))

    [note] = [note for note in run.notes if note.id == "shapes_not_taken"]
    assert note.sentence == f"No shapes of products are taken from rank0.pt.trace.json: {why}."
    assert note.sentence in " ".join(render_text(run).split())


@pytest.mark.parametrize("is_told_by_report", [True, False])
def test_other_shapes_of_the_same_launches_contradict_those_that_are_taken(
    tmp_path: Path, *, is_told_by_report: bool
) -> None:
    taken, other = tmp_path / "taken.pt.trace.json", tmp_path / "other.pt.trace.json"
    taken.write_text(profile(sizes=SIZES))
    other.write_text(profile(sizes=[[16, 4], [4, 2]]))
    export = Export().call(10, 500, "cudaLaunchKernel", correlation=1).kernel(1_000, 8_000, GEMM, correlation=1)
    if is_told_by_report:
        export.nvtx(0, 9_000, f"aten::mm, op_id = 7, sizes = {SIZES}")

    evidence = (other,) if is_told_by_report else (taken, other)
    run = analyze_exports(tmp_path, export, options=AnalyzeOptions(evidence=evidence))

    [note] = [note for note in run.notes if note.id == "shapes_not_taken"]
    who = "the report tells them itself" if is_told_by_report else "taken.pt.trace.json tells them already"
    assert note.sentence == (
        f"No shapes of products are taken from other.pt.trace.json: {who}, in contradiction: "
        "the shapes of 1 of 1 launches differ."
    )


def test_profiles_that_are_not_needed_share_a_note(tmp_path: Path) -> None:
    """Of three alike the first is taken, as of the ranks of one job."""
    paths = [tmp_path / f"rank{rank}.pt.trace.json" for rank in range(3)]
    for rank, path in enumerate(paths):
        path.write_text(profile(sizes=SIZES).replace('"traceEvents"', f'"traceName": "{rank}", "traceEvents"'))
    export = Export().call(10, 500, "cudaLaunchKernel", correlation=1).kernel(1_000, 8_000, GEMM, correlation=1)

    run = analyze_exports(tmp_path, export, options=AnalyzeOptions(evidence=tuple(paths)))

    [note] = [note for note in run.notes if note.id == "shapes_not_taken"]
    assert note.sentence == (
        "No shapes of products are taken from rank1.pt.trace.json, rank2.pt.trace.json: "
        "rank0.pt.trace.json tells them already."
    )


def test_a_profile_without_kernels_is_told_what_to_record(tmp_path: Path) -> None:
    path = tmp_path / "rank0.pt.trace.json"
    path.write_text(profile(sizes=SIZES).replace('"cat": "kernel"', '"cat": "other"'))

    run = analyze_exports(tmp_path, Export().kernel(0, 9_000, GEMM), options=AnalyzeOptions(evidence=(path,)))

    [note] = [note for note in run.notes if note.id == "shapes_not_taken"]
    assert note.sentence.endswith(
        "no kernels were recorded there; record with activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]."
    )
