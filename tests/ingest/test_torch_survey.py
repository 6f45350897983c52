"""What ``info`` tells of a trace of PyTorch's profiler, what it asks, and how it says to record again."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.analysis.gpu_time import GpuTime
from nsysan.ingest.reading import ReadOptions, read_trace, survey_report
from nsysan.model.contents import Communicators, Contents, TableRows
from nsysan.model.errors import InputError
from nsysan.model.trace import ProcessGroup, process_of
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.report.contents_text import render_contents
from nsysan.report.renderers import renderers
from tests.ingest.torch_traces import Event, annotation, event, kernel, memory, written
from tests.runs import result_of

EVIDENCE = Path(__file__).parents[3] / "shared" / "evidence"
HOST = (42, 42)
ALL_REDUCE = {"Collective name": "allreduce", "In msg nelems": 8, "Out msg nelems": 8, "dtype": "Float"}


def survey(path: Path) -> Contents:
    return survey_report(path, ReadOptions())


def asked(*events: Event, folder: Path, **members: object) -> list[str]:
    return [question.id for question in survey(written(folder, *events, **members)).open_questions]


def test_rank_groups_and_calls(tmp_path: Path) -> None:
    groups = [
        {"pg_name": "0", "pg_desc": "default_pg", "pg_size": 4, "ranks": [0, 1, 2, 3]},
        {"pg_name": "\x1b[31m", "ranks": [1, 3], "pg_size": "many"},
        # as newer releases write the group of all ranks
        {"pg_name": "2", "pg_desc": "default_pg", "group_size": 4, "group_count": 3, "ranks": []},
        {"pg_name": "3", "ranks": [1, "x"]},
        {"ranks": [0]},
        "nonsense",
    ]
    job = {"rank": 1, "world_size": 4, "pg_config": groups}
    launch = event("cuda_runtime", "cudaLaunchKernel", 1, 1, thread=HOST, correlation=1)
    collective = event("cpu_op", "record_param_comms", 2, 1, thread=HOST, **ALL_REDUCE)

    contents = survey(written(tmp_path, launch, collective, kernel(5, 1), distributedInfo=job))

    assert (contents.rank, contents.world_size) == (1, 4)
    assert contents.communicators == Communicators(
        process_groups=(
            ProcessGroup("0", "default_pg", 4, (0, 1, 2, 3)),
            ProcessGroup("\\x1b[31m", "", 2, (1, 3)),
            ProcessGroup("2", "default_pg", 4, ()),
            ProcessGroup("3", "", None, ()),
        ),
        collective_call_count=1,
    )
    assert contents.tables == (
        TableRows("kernels", 1),
        TableRows("nvtx_ranges", 1),
        TableRows("runtime_calls", 1),
        TableRows("collective_calls", 1),
    )
    text = render_contents(contents)
    assert "Rank: 1 of 4\n" in text
    communicators = "1 call of collectives; 4 process groups: 0 of 4 ranks, 2 of 4 ranks, \\x1b[31m of 2 ranks"
    assert f"{communicators}, 3 of unknown size" in " ".join(text.split())


@pytest.mark.skipif(not EVIDENCE.exists(), reason="the shared real traces are not beside this checkout")
@pytest.mark.parametrize("rank", [0, 1])
def test_a_real_rank(rank: int) -> None:
    contents = survey(EVIDENCE / f"torch-megatron-tp2-rank{rank}.pt.trace.json.gz")

    assert (contents.rank, contents.world_size) == (rank, 2)
    found = contents.communicators
    assert found is not None
    assert found.collective_call_count == 13
    # the groups of both ranks, and those of this rank alone, as pg_config lists them
    shared = [group.name for group in found.process_groups if group.ranks == (0, 1)]
    assert shared == ["0", "11", "12", "13", "20", "21", "22", "23"]
    assert {group.ranks for group in found.process_groups} == {(0, 1), (rank,)}
    assert [question.id for question in contents.open_questions] == ["cpu_samples", "memory", "gemm_shapes"]


def test_without_anything_everything_but_what_needs_kernels_is_asked(tmp_path: Path) -> None:
    assert asked(folder=tmp_path) == ["gpu_time", "ranges", "idle_causes", "cpu_samples", "memory", "gpu_identity"]


EVENTS = {
    "gpu_time": kernel(5, 1),
    "ranges": annotation(1, 9, "ProfilerStep#3"),
    "idle_causes": event("cuda_runtime", "cudaLaunchKernel", 1, 1, thread=HOST, correlation=1),
    "cpu_samples": event("python_function", "train.py(7): step", 1, 9, thread=HOST),
    "memory": memory(1, 512, 1_024),
    "gemm_shapes": event("cpu_op", "aten::mm", 1, 1, thread=HOST, **{"Input Dims": [[2, 3], [3, 4]]}),
    "nccl_bytes": event("cpu_op", "record_param_comms", 2, 1, thread=HOST, **ALL_REDUCE),
}
NCCL = kernel(3, 1, "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)")


@pytest.mark.parametrize("question", EVENTS)
def test_an_event_answers_its_question_and_no_other(tmp_path: Path, question: str) -> None:
    without = set(asked(NCCL, kernel(4, 1), folder=tmp_path)) | {"gpu_time"}

    left = set(asked(NCCL, kernel(4, 1), EVENTS[question], folder=tmp_path))

    assert question in without
    assert left == without - {question, "gpu_time"}


def test_the_header_answers_who_and_what(tmp_path: Path) -> None:
    groups = [{"pg_name": "0", "ranks": [0, 1]}]
    before = asked(NCCL, folder=tmp_path)

    after = asked(
        NCCL, folder=tmp_path, distributedInfo={"pg_config": groups}, deviceProperties=[{"id": 0, "name": "A"}]
    )

    assert set(before) - set(after) == {"communicators", "gpu_identity"}


def test_nothing_told_of_a_pytorch_trace_speaks_of_another_profiler(tmp_path: Path) -> None:
    """Neither what is missing, nor how to record it, nor where to look."""
    path = written(tmp_path, annotation(1, 9))
    info = render_contents(survey(path))
    run = analyze([path], AnalyzeOptions())
    page, text = (renderers()[name].render(run) for name in ("html", "text"))
    busy = written(tmp_path, kernel(5, 1), kernel(9, 1))
    busy_run = analyze([busy], AnalyzeOptions())
    look_next, busy_page = (renderers()[name].render(busy_run) for name in ("text", "html"))

    for told in (info, page, text, look_next, busy_page):
        assert not {word for word in ("nsys profile", "Nsight", "NVTX") if word in told}
    for told in (info, page, text):
        assert "ProfilerActivity.CUDA]" in told
    for option in ("schedule=", "record_shapes", "profile_memory=True", "with_stack=True", "--profiler torch"):
        assert (option in info) == (option != "record_shapes")
    assert "a trace viewer" in look_next


def test_a_graph_launch_without_kernels_is_no_unseen_graph(tmp_path: Path) -> None:
    """PyTorch's profiler records the kernels of graphs one by one, so that advice about graphs would lead nowhere."""
    launch = event("cuda_runtime", "cudaGraphLaunch", 1, 1, thread=HOST, correlation=7)

    run = analyze([written(tmp_path, launch)], AnalyzeOptions())

    assert {skipped.reason for skipped in run.results.skipped()} >= {"the trace holds no GPU work"}


@pytest.mark.parametrize(
    "events",
    [
        [event("cpu_op", "aten::mm", 1, 1, thread=(pid, 1)) for pid in (42, 42, 43, 43)],
        [event("cuda_runtime", "cudaLaunchKernel", 1, 1, thread=(pid, 1), correlation=1) for pid in (42, 42, 43, 43)],
        [{"ph": "M", "name": "process_labels", "pid": pid, "args": {"labels": "CPU"}} for pid in (42, 43)],
    ],
    ids=["operators", "calls", "labels"],
)
def test_a_trace_merged_of_several_ranks_is_refused(tmp_path: Path, events: list[Event]) -> None:
    path = written(tmp_path, kernel(5, 1), *events, distributedInfo={"rank": 0})

    for read in (read_trace, survey_report):
        with pytest.raises(InputError, match="was merged of several ranks: it holds the events of several processes"):
            read(path, ReadOptions())


def test_one_stray_event_makes_no_second_rank(tmp_path: Path) -> None:
    operators = [event("cpu_op", "aten::mm", 1, 1, thread=(pid, 1)) for pid in (42, 42, 43)]

    trace = read_trace(written(tmp_path, *operators), ReadOptions())

    assert trace.nvtx_ranges is not None
    assert [process_of(tid) for tid in trace.nvtx_ranges.global_tid.tolist()] == [42, 42, 43]


def test_two_ranks_in_one_header_are_refused_and_one_told_twice_is_one(tmp_path: Path) -> None:
    path = written(tmp_path, kernel(5, 1), distributedInfo={"rank": 0})
    once = path.read_text()
    path.write_text(once.replace('"traceEvents"', '"distributedInfo": {"rank": 0}, "traceEvents"'))
    assert read_trace(path, ReadOptions()).rank == 0
    path.write_text(once.replace('"traceEvents"', '"distributedInfo": {"rank": 1}, "traceEvents"'))

    with pytest.raises(InputError, match="was merged of several ranks: it holds several distributedInfo"):
        read_trace(path, ReadOptions())


def test_a_stray_event_of_another_process_is_no_second_rank(tmp_path: Path) -> None:
    calls = [event("cuda_runtime", "cudaLaunchKernel", n, 1, thread=(42, 1), correlation=n) for n in range(19)]
    stray = event("cuda_runtime", "cudaLaunchKernel", 1, 1, thread=(43, 1), correlation=1)

    processes = survey(written(tmp_path, kernel(5, 1), *calls, stray)).processes

    assert processes is not None
    assert [process.pid for process in processes] == [42]


def test_a_process_that_nothing_names_is_unknown_and_not_process_0(tmp_path: Path) -> None:
    path = written(tmp_path, kernel(5, 1), kernel(7, 1))

    contents = survey_report(path, ReadOptions())
    run = analyze([path], AnalyzeOptions())

    assert contents.devices is not None
    assert [(work.pid, work.record_count) for work in contents.devices] == [(None, 2)]
    assert "process unknown, device 0" in render_contents(contents)
    assert [(device.id, device.pid) for device in result_of(run, GpuTime).devices] == [("r0/p?/d0", None)]
    for renderer in renderers().values():
        assert "process 0" not in renderer.render(run)
