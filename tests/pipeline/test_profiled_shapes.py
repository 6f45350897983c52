"""Shapes that PyTorch's profiler recorded hold for the same launches in a trace of Nsight Systems that has none."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.analysis.gemms import Gemms
from nsysan.model.results import Skipped
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.synth.generate import generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import find_scenario
from nsysan.synth.trace_kind import TraceKind
from tests.runs import result_of

HEALTHY = Request(scenario=find_scenario("healthy"), rank_count=2, step_count=4)
BARE = replace(HEALTHY, kinds=frozenset({TraceKind.CUDA}))


def written(folder: Path, request: Request) -> list[Path]:
    folder.mkdir(exist_ok=True)
    return [export.write(folder / name) for name, export in generate(request).exports.items()]


def profile(folder: Path, name: str = "healthy", **changes: object) -> Path:
    request = replace(HEALTHY, scenario=find_scenario(name), file_format=FileFormat.KINETO, rank_count=1)
    return written(folder, replace(request, **changes))[0]


@pytest.mark.parametrize("step_count", [2, 3])
def test_shapes_of_another_run_are_those_that_ranges_would_have_told(tmp_path: Path, step_count: int) -> None:
    """Another seed, other lengths of steps, one rank of two."""
    evidence = profile(tmp_path, seed=7, step_count=step_count)

    told = result_of(analyze(written(tmp_path / "ranges", HEALTHY), AnalyzeOptions()), Gemms)
    found = result_of(analyze(written(tmp_path / "bare", BARE), AnalyzeOptions(evidence=(evidence,))), Gemms)

    assert found.gemm_shape_sources == (evidence.name,)
    assert (found.gemms, found.gemm_coverage_frac) == (told.gemms, told.gemm_coverage_frac)


def test_ranges_of_the_report_itself_count_first(tmp_path: Path) -> None:
    evidence = profile(tmp_path)

    found = result_of(analyze(written(tmp_path / "ranges", HEALTHY), AnalyzeOptions(evidence=(evidence,))), Gemms)

    assert found.gemm_shape_sources == ()


def test_a_profile_of_another_job_tells_nothing(tmp_path: Path) -> None:
    evidence = profile(tmp_path, "recomputation")

    found = analyze(written(tmp_path / "bare", BARE), AnalyzeOptions(evidence=(evidence,))).results.get(Gemms)

    assert isinstance(found, Skipped)


def test_the_profile_of_a_reports_own_rank_counts_before_others(tmp_path: Path) -> None:
    """The expert of rank 1 multiplies 1.5 times the rows that others do, with the same kernels."""
    skewed = replace(HEALTHY, scenario=find_scenario("moe-skew"), rank_count=4, layout=Layout.PER_RANK)
    evidence = tuple(written(tmp_path / "profiles", replace(skewed, seed=7, file_format=FileFormat.KINETO)))
    bare = replace(skewed, kinds=frozenset({TraceKind.CUDA}))

    told = result_of(analyze(written(tmp_path / "ranges", skewed), AnalyzeOptions()), Gemms)
    found = result_of(analyze(written(tmp_path / "bare", bare), AnalyzeOptions(evidence=evidence)), Gemms)

    assert found.gemms == told.gemms
    assert found.gemm_shape_sources == tuple(path.name for path in evidence)
