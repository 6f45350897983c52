"""What one report costs: nsysan beside nsys, pandas and a plain read of the file.

All run in turn on the same file in one session, so that the ratios hold on any machine; the seconds do not. The report
is that of ``nsysan synth healthy`` with eight ranks, recorded again and again until it has the kernels asked for.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import nsysan

KERNELS_PER_RECORDING = 13_056
"""Of eight ranks and sixteen steps."""
NARROW = "partition,gaps,kernels"
PROJECTED = f"{NARROW},launches,ranges,timeline"
"""With each launch call joined to its kernel, NVTX ranges projected onto GPU time, and the timeline."""
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""That of a user: where Python keeps nothing it compiles, each start compiles every module again."""
READ_WITH_PANDAS = """
import sqlite3, sys, pandas
pandas.read_sql("SELECT * FROM CUPTI_ACTIVITY_KIND_KERNEL", sqlite3.connect(sys.argv[1]))
"""

Commands = list[list[str]]


@dataclass(frozen=True, slots=True)
class Cost:
    """What commands that ran one after the other took; memory is the peak of the largest."""

    cpu_s: float
    wall_s: float
    memory_mb: float


def main() -> None:
    """Print the table for the arguments of the command line, and keep it in a file where one is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, nargs="+", default=[1_000_000], help="kernels in each report")
    parser.add_argument("--rounds", type=int, default=3, help="the median of so many rounds counts")
    parser.add_argument("--nsys", default=os.environ.get("NSYSAN_TEST_NSYS") or shutil.which("nsys"))
    parser.add_argument("--without", nargs="*", default=[], help="leave out the contenders that begin so")
    parser.add_argument("--results", type=Path, help="write the tables to this Markdown file")
    options = parser.parse_args()
    written = [head()]
    for kernel_count in options.kernels:
        with tempfile.TemporaryDirectory() as folder:
            report = write_report(Path(folder), kernel_count)
            chosen = contenders(report, options.nsys)
            chosen = {name: runs for name, runs in chosen.items() if not name.startswith(tuple(options.without))}
            written.append(table(report, run(chosen, options.rounds)))
        print(written[-1])
    if options.results:
        options.results.write_text("\n".join(written), encoding="utf-8")


def head() -> str:
    """When and where this was measured, as Markdown."""
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    where = f"{os.cpu_count()} cores, {memory_gb:.0f} GB, load {os.getloadavg()[0]:.1f} at the start"
    when = datetime.now(timezone.utc).strftime("%Y-%m-%d")
    version = f"nsysan {nsysan.__version__}, Python {platform.python_version()}"
    return f"# What one report costs\n\n{when}, {where}, {version}; `python benchmarks/analyze.py`.\n"


def write_report(folder: Path, kernel_count: int) -> Path:
    """A report of about so many kernels."""
    recordings = max(round(kernel_count / KERNELS_PER_RECORDING), 1)
    shape = ["--ranks", "8", "--steps", "16", "--repeat", str(recordings)]
    nsysan_synth = [sys.executable, "-m", "nsysan", "synth", "healthy", "-o", str(folder)]
    subprocess.run([*nsysan_synth, *shape], check=True, stdout=subprocess.DEVNULL)
    return folder / "healthy.sqlite"


def contenders(report: Path, nsys: str | None) -> dict[str, Commands]:
    """The commands of each contender by its name; nsys is left out where there is none."""
    page, run_json = str(report.with_suffix(".html")), str(report.with_suffix(".json"))
    analyze = [sys.executable, "-m", "nsysan", "analyze", "--quiet", str(report), "--json", run_json]
    found: dict[str, Commands] = {
        f"nsysan --only {NARROW}": [[*analyze, "--only", NARROW]],
        f"nsysan --only {PROJECTED}, with the page": [[*analyze, "-o", page, "--only", PROJECTED]],
        "nsysan, everything, with the page": [[*analyze, "-o", page]],
        "pandas.read_sql, the kernel table": [[sys.executable, "-c", READ_WITH_PANDAS, str(report)]],
        "cat, the whole file": [["cat", str(report)]],
    }
    if nsys is None:
        print("no nsys on PATH, in --nsys or NSYSAN_TEST_NSYS: left out")
        return found
    kernels = [nsys, "stats", "-q", "-r", "cuda_gpu_kern_sum", "--format", "csv", "-o", "-", str(report)]
    gaps = [nsys, "analyze", "-q", "-r", "gpu_gaps:gap=0:rows=-1", "--format", "csv", "-o", "-", str(report)]
    return found | {"nsys stats cuda_gpu_kern_sum": [kernels], "nsys analyze gpu_gaps": [gaps]}


def run(commands_by_name: dict[str, Commands], rounds: int) -> dict[str, Cost]:
    """The cost of each contender: of each figure the median of the rounds, taken in turn."""
    samples: dict[str, list[Cost]] = {name: [] for name in commands_by_name}
    for _ in range(rounds):
        for name, commands in commands_by_name.items():
            costs = [cost_of(command) for command in commands]
            total = Cost(sum(c.cpu_s for c in costs), sum(c.wall_s for c in costs), max(c.memory_mb for c in costs))
            samples[name].append(total)
    return {
        name: Cost(*(statistics.median(getattr(cost, field) for cost in of_name) for field in Cost.__slots__))
        for name, of_name in samples.items()
    }


def cost_of(command: list[str]) -> Cost:
    """What the command took, its children included."""
    begin_s = time.monotonic()
    null = subprocess.DEVNULL
    process = subprocess.Popen(command, stdin=null, stdout=null, stderr=null, env=ENVIRONMENT)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    return Cost(used.ru_utime + used.ru_stime, time.monotonic() - begin_s, used.ru_maxrss / 1e3)


def table(report: Path, costs: dict[str, Cost]) -> str:
    """One line a contender as Markdown; how many times the CPU time of the first."""
    first = next(iter(costs.values()))
    lines = [
        f"## {report.stat().st_size / 1e6:,.0f} MB of SQLite\n",
        "| contender | CPU s | times the first | wall s | peak memory, MB |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, cost in costs.items():
        times = f"{cost.cpu_s / first.cpu_s:.1f}"
        lines.append(f"| {name} | {cost.cpu_s:.2f} | {times} | {cost.wall_s:.2f} | {cost.memory_mb:,.0f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
