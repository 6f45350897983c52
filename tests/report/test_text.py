"""The one-screen text."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.steps import Steps
from nsysan.model.idle import Cause, IdleCauses
from nsysan.model.partition import PartTimes
from nsysan.model.results import Skipped
from nsysan.report.columns import cell_count
from nsysan.report.formats.text import render_text
from tests.report.gpu_times import gpu, gpu_time
from tests.report.recorded import GAPS, KERNELS, MS, STEPS, STEPS_OF_FIRST
from tests.report.runs import FINDING, REPORT, bare_run, full_run, run_of, skipped_run

FULL = """\
rank0.sqlite, 2 GPUs, NVIDIA H100 80GB HBM3, window 1.000 s, Nsight Systems 2025.6.1
The 2 GPUs computed for 65.0 % of the window; they waited for the data loader for 13.0 %, and
exposed communication, transfer or waiting, took 12.5 %.
This run holds no steps, so the window may include start-up.
gpu1 computed least, for 60.0 %. gpu1 had most idle time, 25.0 %.
Walk: compute not known, communication not known, data not known, memory not known, scheduling not
known.
8,192 tokens a second, MFU 30.0 % (causal attention), MFU 35.0 % (full attention), 4.00 an hour,
efficiency 75.0 % of 1 GPU, a token (compute 0.900 x exposed communication 0.950 x waiting 0.877).
SIMULATED ceilings, simulated from: a sheet. The clock differs. They tell nothing of gpu1: measured
on A, recorded on B. Too low a ceiling, for the run was faster: copies host_to_device. Measure again
before trusting the others. 1 shape left out: 801.7 TFLOP/s would be 111.4 % of it.
In the mean steady step the GPU waits most for the data loader: 26.000 ms, 37.1 % of it.

GPU    window  compute  overlap  fused  graph    comm   copy    idle    busy
gpu0  1.000 s   60.0 %   10.0 %  0.0 %  0.0 %  15.0 %  5.0 %  10.0 %  70.0 %
gpu1  1.000 s   50.0 %   10.0 %  0.0 %  0.0 %  10.0 %  5.0 %  25.0 %  60.0 %

Kernels with the most time  class  count    total   share
sgemm                        gemm     10  1.000 s  50.0 %

What idle GPUs waited for      in all  of idle
data loading               260.000 ms   74.3 %
2 other causes              90.000 ms   25.7 %
Longest idle gaps, by what ended them   GPU     begins at       lasts
ncclDevKernel_AllReduce                gpu1  2.125000000s  125.000 ms

4 steady steps on gpu0/p100, marked by step *: median 70.000 ms, 90 % within 100.000 ms, worst
100.000 ms. Left out: 1 step as warm-up and the open last.
Of the mean step of gpu0/p100, 100.000 ms with its waits, backward takes 50.0 %, data 20.0 % and
gradient synchronization 20.0 % (90.0 % assigned, confidence high).
Ranks waited 120.000 ms for each other; the transfers took 30.000 ms.
Rank 1 came last to 8 of the 9 collectives with a late rank; the others waited 100.000 ms for it.
Slow clock: it computes 90.000 ms longer, its kernels take 1.35 times as long, all by one ratio.
The 2 stages of a pipeline wait 20.0 % of their steps for each other: 4 parts a step alone make 1 ÷
(4 + 1) = 20.0 %.
NCCL 2.27.3+cuda12.9 names IB (2 ranks) and Socket (1 rank) on RoCE as its network; connections go
over P2P/direct pointer (128), NET/Socket (4), says nccl.log.
nccl-tests reached up to 338.820 GB/s of bus bandwidth with all reduce, as its bus factor tells,
over 16 ranks on 2 nodes (NVIDIA H100 80GB HBM3), says table.txt.
train.log and trace disagree on step time by 142.4 %: the profiler slows this run.
A step takes 3.066 ms by its timer, says train.log of steps 10 to 1,200, and 7.433 ms in the trace.
From step to step 3.400 ms pass by train.log, of which 340.000 µs lie outside its timer.
Of train.log: its steps begin again 1 time; it goes on from a checkpoint; 11 iterations updated
nothing, and lines that tell of such do not count.
nvidia-smi dmon sampled 2 GPUs whose clocks at work lie between 1,300 and 1,755 MHz, says dmon.txt.
Job 4711 (completed) waited 3,000.000 s in the queue and ran 90,001.000 s on 16 nodes with 128 GPUs,
says jobs.txt.
At its peak 60.000 GB of gpu1 are taken, 75.0 % of 80.000 GB.
10 calls in 5 steady steps of r0/p100/d0 allocate or free memory. They take 4.000 ms, waits for the
GPU included.
2 copies of 8.000 MB in steady steps of r0/p100/d0 go through pageable memory and take 1.000 ms.
25.0 % of the compute kernels' time in steady steps of r0/p100/d0 repeats the forward inside the
backward, to save memory (confidence high; the backward is told by a range named so).
Compute that also ran alone loses 10.000 ms in 50.000 ms beside communication: 80.0 % of their
overlap is won.
On gpu0 2 communication kernels stood ready for 3.000 ms in all while compute ran that was launched
later.
On gpu0 20.0 % of the communication kernels' time (1 kernel) passes on the stream that computes,
where nothing hides it.
Multiprocessors active 70.0 % and tensor cores active 30.0 % of the window.
1 context of processes that were not recorded ran on these GPUs for 3.000 ms, 2.000 ms of it while
the recorded work idled.
Found on a core, launching threads were most often in forward: 75.0 %.

warning: gpu1 idles for 250 ms
note: The window may include start-up
not answered: Launches. Record calls: --trace=cuda.
Look next at the gap that waited longest for the data loader: 125.000 ms from 2.125000000s on gpu1
in Nsight Systems, and at the page. In it thread 101 loaded data in next(loader) for 100.000 ms and
launched nothing for 25.000 ms; then cudaLaunchKernel started ncclDevKernel_AllReduce.
Written by nsysan 0.1.0.
"""


def test_the_text_of_a_full_run_says_it_all_on_one_screen() -> None:
    assert render_text(full_run()) == FULL


def test_a_trace_without_gpu_work_is_said_with_what_would_have_recorded_it() -> None:
    assert render_text(skipped_run()) == (
        "rank0.sqlite, Nsight Systems 2025.6.1\n"
        "Where the GPU time went is unknown: the trace holds no GPU work.\n"
        "\n"
        "not answered: GPU time, Steps, Idle gaps and 26 more. Record CUDA: --trace=cuda.\n"
        "Written by nsysan 0.1.0.\n"
    )


def test_questions_that_need_different_recordings_are_left_to_the_page_and_to_info() -> None:
    skipped = (Skipped("counters", "none", "Record counters."), Skipped("memory", "none", "Record memory."))

    assert "not answered: Counters and Memory. The page says why, nsysan info what to record.\n" in render_text(
        run_of(*skipped)
    )


def test_a_run_that_holds_nothing_claims_nothing() -> None:
    assert render_text(bare_run()) == (
        "no report\nWhere the GPU time went is unknown: this run does not hold it.\n\nWritten by nsysan 0.1.0.\n"
    )


def test_a_gpu_without_a_window_has_no_shares() -> None:
    times = gpu_time((gpu("gpu0", PartTimes(600, 0, 0, 0, 0, 0, 400)), gpu("gpu1", PartTimes(0, 0, 0, 0, 0, 0, 0))))

    assert render_text(run_of(times)).splitlines()[-4:-2] == [
        "gpu0  1.000 µs   60.0 %    0.0 %  0.0 %  0.0 %  0.0 %  0.0 %  40.0 %     60.0 %",
        "gpu1      0 ns        -        -      -      -      -      -       -  no window",
    ]


def test_causes_that_have_no_line_are_summed_up_in_one() -> None:
    first, *others = list(Cause)[:6]
    causes = IdleCauses.of_times({first: 50 * MS, **dict.fromkeys(others, 10 * MS)})
    text = render_text(run_of(gpu_time((gpu("gpu0", PartTimes(0, 0, 0, 0, 0, 0, 100 * MS), causes=causes),))))

    assert "\n2 other causes             20.000 ms   20.0 %\n" in text


def test_only_a_name_of_the_trace_is_ever_cut() -> None:
    advice = "name its ranges with --marker. " * 9
    long = replace(STEPS_OF_FIRST, marker="iteration " * 30)
    run = run_of(Steps(replace(STEPS.steps, devices=(long,))), Skipped("counters", "none", advice))

    text = " ".join(render_text(run).splitlines())
    assert advice.strip() in text
    assert "marked by iteration iteration iteration iteration iteration iterati...: median" in text


def test_no_line_ends_between_a_figure_and_its_unit() -> None:
    runs = [replace(full_run(), reports=(replace(REPORT, name="x" * length),)) for length in range(30, 70)]

    assert [line for run in runs for line in render_text(run).splitlines() if line.startswith("s,")] == []


def test_the_largest_run_still_fits_a_screen() -> None:
    long_name = "void at::native::elementwise_kernel<" + "int, " * 50 + ">"
    times = [gpu(f"gpu{index}", PartTimes(10**9 + index, 1, 1, 1, 1, 1, 10**9)) for index in range(64)]
    kernels = replace(KERNELS, kernels=tuple(replace(KERNELS.kernels[0], name=long_name) for _ in range(40)))
    skipped = [Skipped(f"question_{index}", long_name, long_name) for index in range(9)]
    run = replace(run_of(gpu_time(times), GAPS, kernels, *skipped), findings=(FINDING,) * 9)
    lines = render_text(run).splitlines()

    assert len(lines) <= 45
    assert max(cell_count(line) for line in lines) <= 100
    assert "56 more GPUs lie between the first two" in lines
    assert "and 6 more findings on the page" in lines
