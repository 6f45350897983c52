"""CPU seconds to read and account for one report: nsysan beside nsys, pandas and a plain read of the file.

All run in turn on the same file in one session, so that the ratios hold on any machine; the seconds do not.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from nsysan.synth.export import Export

GPU_COUNT = 8
NAME_COUNT = 300
COMMUNICATION_EVERY = 20
FIRST_PID = 1000
READ_WITH_PANDAS = """
import sqlite3, sys, pandas
pandas.read_sql("SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL", sqlite3.connect(sys.argv[1]))
"""

Commands = list[list[str]]


def main() -> None:
    """Print the table for the arguments of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=200_000, help="kernels in the report (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="the least of so many rounds counts")
    parser.add_argument("--nsys", default=os.environ.get("NSYSAN_TEST_NSYS") or shutil.which("nsys"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        report = write_report(Path(folder) / "report.sqlite", options.kernels)
        print(f"{options.kernels:,} kernels and their launches, {report.stat().st_size / 1e6:.1f} MB")
        cpu_s = least_cpu_s(contenders(report, options.nsys), options.rounds)
    print_table(cpu_s)


def write_report(path: Path, kernel_count: int) -> Path:
    """A report of ``kernel_count`` kernels, each with its launch, dealt to eight processes with a GPU each."""
    chance = random.Random(0)  # noqa: S311 -- the same report every time, not a secret
    export = Export()
    for gpu in range(GPU_COUNT):
        export.gpu(gpu)
    now_ns = [0] * GPU_COUNT
    for number in range(kernel_count):
        _add_kernel(export, number, now_ns, chance)
    return export.write(path)


def _add_kernel(export: Export, number: int, now_ns: list[int], chance: random.Random) -> None:
    gpu, order = number % GPU_COUNT, number // GPU_COUNT
    communicates = order % COMMUNICATION_EVERY == 0
    name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL" if communicates else f"kernel_{order % NAME_COUNT}<float>(int)"
    start_ns = now_ns[gpu] + chance.randrange(0, 4_000)
    end_ns = start_ns + chance.randrange(2_000, 60_000)
    pid, correlation = FIRST_PID + gpu, order + 1
    export.call(start_ns - 5_000, start_ns - 2_000, "cudaLaunchKernel_v7000", pid=pid, correlation=correlation)
    export.kernel(start_ns, end_ns, name, pid=pid, stream=20 if communicates else 7, correlation=correlation)
    # communication runs beside what follows it
    now_ns[gpu] = start_ns if communicates else end_ns


def contenders(report: Path, nsys: str | None) -> dict[str, Commands]:
    """The commands of each contender by its name; nsys is left out where there is none."""
    page, run_json = report.with_suffix(".html"), report.with_suffix(".json")
    analyze = ["-m", "nsysan", "analyze", str(report), "-o", str(page), "--json", str(run_json)]
    found: dict[str, Commands] = {
        "nsysan analyze (page and run.json)": [[sys.executable, *analyze]],
        "pandas.read_sql (kernel table only)": [[sys.executable, "-c", READ_WITH_PANDAS, str(report)]],
        "cat (plain read)": [["cat", str(report)]],
    }
    if nsys is None:
        print("no nsys on PATH, in --nsys or NSYSAN_TEST_NSYS: left out")
        return found
    statistics = [nsys, "stats", "-q", "-r", "cuda_gpu_kern_sum", "--format", "csv", "-o", "-", str(report)]
    gaps = [nsys, "analyze", "-q", "-r", "gpu_gaps:gap=0:rows=-1", "--format", "csv", "-o", "-", str(report)]
    return found | {"nsys stats kernels + nsys analyze gaps": [statistics, gaps]}


def least_cpu_s(commands_by_name: dict[str, Commands], rounds: int) -> dict[str, float]:
    """User and system seconds of each contender, children included: the least of ``rounds``, taken in turn."""
    samples: dict[str, list[float]] = {name: [] for name in commands_by_name}
    for _ in range(rounds):
        for name, commands in commands_by_name.items():
            samples[name].append(sum(_cpu_s(command) for command in commands))
    return {name: min(of_name) for name, of_name in samples.items()}


def _cpu_s(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def print_table(cpu_s: dict[str, float]) -> None:
    """One line a contender: CPU seconds, and how many times nsysan's."""
    nsysan_s = next(iter(cpu_s.values()))
    print(f"{'':<40}{'CPU s':>10}{'x nsysan':>10}")
    for name, seconds in cpu_s.items():
        print(f"{name:<40}{seconds:>10.3f}{seconds / nsysan_s:>10.3f}")


if __name__ == "__main__":
    main()
