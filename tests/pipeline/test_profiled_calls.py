"""What PyTorch's profiler recorded of collectives holds for the same launches in a trace of nsys without payloads."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.analysis.collectives import Collectives
from nsysan.analysis.stragglers import Stragglers
from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.model.lateness import Lateness
from nsysan.model.run import Run
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import find_scenario
from nsysan.synth.trace_kind import TraceKind
from tests.runs import result_of


def request(name: str, **changes: object) -> Request:
    asked = Request(scenario=find_scenario(name), rank_count=4, step_count=4, layout=Layout.PER_RANK)
    return replace(asked, **changes)


def written(folder: Path, asked: Request) -> list[Path]:
    folder.mkdir(exist_ok=True)
    return [export.write(folder / name) for name, export in generate(asked).exports.items()]


def bare(folder: Path, name: str) -> list[Path]:
    """Reports of a job's ranks that hold kernels and CUDA calls alone."""
    return written(folder / "bare", request(name, kinds=frozenset({TraceKind.CUDA})))


def profiles(folder: Path, name: str) -> tuple[Path, ...]:
    """Profiles of the same ranks in another run: other lengths, fewer steps."""
    asked = request(name, seed=7, step_count=3, file_format=FileFormat.KINETO)
    return tuple(written(folder / "profiles", asked))


def moved(run: Run) -> Counter[tuple[object, ...]]:
    """What the ranks of each group moved and for how long, whatever the stage of the step."""
    found: Counter[tuple[object, ...]] = Counter()
    for row in result_of(run, Collectives).collectives:
        key = (row.kind, row.ranks, row.bytes)
        for what in ("count", "duration_ns", "transfer_ns", "wait_ns"):
            found[(*key, what)] += getattr(row, what)
    return found


def sentences(run: Run, note_id: str = "calls_from_profile") -> list[str]:
    return [note.sentence for note in run.notes if note.id == note_id]


@pytest.mark.parametrize("name", ["healthy", "tensor-parallel"])
def test_profiles_of_every_rank_tell_what_payloads_would_have(tmp_path: Path, name: str) -> None:
    paid = analyze(written(tmp_path / "paid", request(name, includes_blobs=True)), AnalyzeOptions())

    told = analyze(bare(tmp_path, name), AnalyzeOptions(evidence=profiles(tmp_path, name)))

    assert moved(told) == moved(paid)
    assert len(sentences(told)) == 4
    assert all(", between which ranks and how much" in sentence for sentence in sentences(told))


def test_the_profile_of_one_rank_tells_sizes_of_the_others_but_no_groups(tmp_path: Path) -> None:
    profile = profiles(tmp_path, "healthy")[0]
    reports = bare(tmp_path, "healthy")
    [alone] = result_of(analyze(reports, AnalyzeOptions()), Collectives).collectives
    [paid] = result_of(
        analyze(written(tmp_path / "paid", request("healthy", includes_blobs=True)), AnalyzeOptions()), Collectives
    ).collectives

    run = analyze(reports, AnalyzeOptions(evidence=(profile,)))

    [row] = result_of(run, Collectives).collectives
    assert (alone.bytes, row.bytes, row.dtype, row.communicator) == (None, paid.bytes, "BFloat16", None)
    assert (row.transfer_ns, row.wait_ns) == (alone.transfer_ns, alone.wait_ns)
    assert sentences(run)[1] == (
        "healthy-rank0.pt.trace.json has the launches of healthy-rank1.sqlite, and tells of what kind 16 calls of "
        "collectives in it are and how much 16 calls of them move."
    )


def test_the_profile_of_the_only_report_tells_its_group(tmp_path: Path) -> None:
    profile = profiles(tmp_path, "healthy")[2]
    report = bare(tmp_path, "healthy")[2]

    run = analyze([report], AnalyzeOptions(evidence=(profile,)))

    found = result_of(run, Collectives)
    assert (found.world_size, [row.communicator for row in found.collectives]) == (4, ["0"])


def test_a_profile_of_other_launches_tells_nothing(tmp_path: Path) -> None:
    run = analyze(bare(tmp_path, "healthy"), AnalyzeOptions(evidence=profiles(tmp_path, "recomputation")[:1]))

    assert {row.bytes for row in result_of(run, Collectives).collectives} == {None}
    assert not sentences(run)
    [sentence] = sentences(run, "shapes_not_taken")
    assert "are taken from recomputation-rank0.pt.trace.json: the launches of kernels there do not fit" in sentence


def test_a_profile_of_other_launches_says_that_its_collectives_are_not_taken(tmp_path: Path) -> None:
    run = analyze(bare(tmp_path, "healthy"), AnalyzeOptions(evidence=profiles(tmp_path, "recomputation")[:1]))

    [sentence] = sentences(run, "calls_not_taken")
    assert sentence.startswith("No sizes of collectives are taken from recomputation-rank0.pt.trace.json: the launches")


def test_profiles_that_tell_other_sizes_of_the_same_launches_contradict_each_other(tmp_path: Path) -> None:
    """The second is the first with twice the elements in each of the 4 all-reduces of a step; 4 steps are recorded."""
    profile = profiles(tmp_path, "healthy")[0]
    content = json.loads(profile.read_text())
    for event in content["traceEvents"]:
        if event.get("name") == "record_param_comms":
            for key in ("In msg nelems", "Out msg nelems"):
                event["args"][key] *= 2
    doubled = tmp_path / "doubled.pt.trace.json"
    doubled.write_text(json.dumps(content))
    report = bare(tmp_path, "healthy")[0]

    one = analyze([report], AnalyzeOptions(evidence=(profile,)))
    both = analyze([report], AnalyzeOptions(evidence=(profile, doubled)))

    assert result_of(both, Collectives) == result_of(one, Collectives)
    assert not sentences(one, "profiles_contradict")
    assert sentences(both, "profiles_contradict") == [
        (
            "healthy-rank0.pt.trace.json and doubled.pt.trace.json contradict each other: they tell other sizes of 16 "
            "launches of collectives in healthy-rank0.sqlite. Those of healthy-rank0.pt.trace.json are shown."
        )
    ]


def test_a_profile_of_a_job_of_other_size_tells_sizes_and_no_groups(tmp_path: Path) -> None:
    """All-reduces among 4 ranks are not those among 8, though the same kernels run."""
    options = AnalyzeOptions(ranks=RankChoice(world_size=8), evidence=profiles(tmp_path, "healthy"))

    run = analyze(bare(tmp_path, "healthy"), options)

    [row] = result_of(run, Collectives).collectives
    assert (row.dtype, row.communicator) == ("BFloat16", None)
    assert not any("between which ranks" in sentence for sentence in sentences(run))


def test_what_a_rank_puts_into_an_all_to_all_is_told_by_its_own_profile_alone(tmp_path: Path) -> None:
    """Rank 1's expert gets 1.5 times the tokens of others; the all-reduce of gradients is the same on all ranks."""
    run = analyze(bare(tmp_path, "moe-skew"), AnalyzeOptions(evidence=profiles(tmp_path, "moe-skew")[:1]))

    known = {(row.kind, row.bytes is not None) for row in result_of(run, Collectives).collectives}
    assert known == {("all_reduce", True), ("all_to_all", False)}
    # 4 steps with 2 layers: 4 all-to-alls and an all-reduce a layer
    assert sentences(run)[1].endswith(
        "of what kind 40 calls of collectives in it are and how much 8 calls of them move."
    )


def test_a_profile_without_sizes_is_not_said_to_tell_any(tmp_path: Path) -> None:
    profile = profiles(tmp_path, "healthy")[0]
    content = json.loads(profile.read_text())
    for event in content["traceEvents"]:
        if event.get("name") == "record_param_comms":
            event["args"] |= {"In msg nelems": -5, "dtype": None, "Process Group Name": 7}
    profile.write_text(json.dumps(content))

    run = analyze(bare(tmp_path, "healthy")[:1], AnalyzeOptions(evidence=(profile,)))

    [sentence] = sentences(run)
    assert sentence.endswith("tells of what kind 16 calls of collectives in it are, and not how much they move.")


@pytest.mark.parametrize(
    ("evidence", "is_known"), [(slice(None), True), (slice(1), False), (slice(1, 2), False)], ids=["all", "0", "1"]
)
def test_bytes_of_one_rank_are_no_measure_of_anothers_work(tmp_path: Path, evidence: slice, *, is_known: bool) -> None:
    """Rank 1 of 4 comes late and gets 1.5 times the bytes; all run as many kernels, here of the same grid."""
    reports = bare(tmp_path, "moe-skew")
    for report in reports:
        with closing(sqlite3.connect(report)) as database, database:
            database.execute("UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET gridX = 1")

    run = analyze(reports, AnalyzeOptions(evidence=profiles(tmp_path, "moe-skew")[evidence]))

    first = result_of(run, Stragglers).stragglers[0]
    assert (first.rank, first.why is not None and first.why.cause is Lateness.MORE_WORK) == (1, is_known)
