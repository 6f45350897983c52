"""How smoothly the page's timeline pans: milliseconds between frames, and how many of them the page's script takes.

Before that, how long the page takes to open: until it is read, laid out and its script has drawn the timeline.

A page of 16 GPUs full of random kernels and calls is opened in Chromium, zoomed in, and dragged from side to side with
real mouse events. The time between frames says whether the screen keeps up, the script's CPU time a frame what a
machine must spare for it. A headless Chromium paints without a GPU, on the same cores: there the first is an upper
bound.

    python benchmarks/pan_timeline.py [--page FILE] [--frames 300] [--ratio 2]
"""

from __future__ import annotations

import argparse
import random
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from nsysan.cli.main import main as nsysan
from nsysan.synth.export import Export

GPU_COUNT = 16
NAME_COUNT = 300
KERNELS_PER_GPU = 3_000
FRAME_MS = 1000 / 60
ZOOMS = (1, 5, 9)
"""How often the picture is zoomed in before it is dragged: to half of the window, and to ever less of it."""

WATCH = """() => {
  window.frames_ms = [];
  const tick = (now) => {
    window.frames_ms.push(now);
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}"""
OPENED_MS = "performance.getEntriesByType('navigation')[0].loadEventEnd"
FORGET = "() => { window.frames_ms.length = 0; }"


def main() -> None:
    """Print a line for each zoom."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--page", type=Path, help="a page at hand (default: one of random kernels is made)")
    parser.add_argument("--frames", type=int, default=300, help="moves of the mouse (default: %(default)s)")
    parser.add_argument("--ratio", type=float, default=2.0, help="pixels of the screen per CSS pixel")
    parser.add_argument("--chromium", default=shutil.which("chromium") or shutil.which("chromium-browser"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        path = options.page or write_page(Path(folder))
        print(
            f"{path.name}: {path.stat().st_size / 1e6:.2f} MB, {options.frames} moves, {options.ratio:g} pixels a pixel"
        )
        browser = playwright.chromium.launch(executable_path=options.chromium, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900}, device_scale_factor=options.ratio)
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(path.resolve().as_uri())
        opened_ms, cpu_ms = page.evaluate(OPENED_MS), 1000 * _cpu_s(session, "TaskDuration")
        print(f"opened in {opened_ms:.0f} ms, {cpu_ms:.0f} ms of CPU")
        page.evaluate(WATCH)
        print(f"{'zoomed in':<12}{'frame ms: median':>18}{'p95':>8}{'late':>8}{'script CPU ms a frame':>24}")
        for zooms in ZOOMS:
            print_line(f"{2**zooms} x", *pan(page, zooms, options.frames))
        browser.close()


def write_page(folder: Path) -> Path:
    """The page of a report of 16 processes with a GPU each, as full as a page gets."""
    chance = random.Random(0)
    export = Export()
    for gpu in range(GPU_COUNT):
        export.gpu(gpu)
        _add_kernels(export, 1_000 + gpu, chance)
    report, page = export.write(folder / "report.sqlite"), folder / "report.html"
    if nsysan(["analyze", str(report), "-o", str(page), "--quiet"]):
        sys.exit("no page was made")
    return page


def _add_kernels(export: Export, pid: int, chance: random.Random) -> None:
    now_ns = 0
    for number in range(KERNELS_PER_GPU):
        start_ns = now_ns + chance.randrange(0, 9_000)
        now_ns = start_ns + chance.randrange(2_000, 60_000)
        called_ns = max(start_ns - chance.randrange(1_000, 30_000), 0)
        export.call(called_ns, called_ns + 900, "cudaLaunchKernel", pid=pid, correlation=number + 1)
        name = f"kernel_{chance.randrange(NAME_COUNT)}<float>(int)"
        export.kernel(start_ns, now_ns, name, pid=pid, stream=7 + number % 3, correlation=number + 1)


def pan(page: Page, zooms: int, move_count: int) -> tuple[Sequence[float], float]:
    """Milliseconds between frames while the mouse drags the picture, and the script's CPU milliseconds a frame."""
    canvas = page.locator(".timeline-lanes")
    canvas.scroll_into_view_if_needed()
    canvas.focus()
    for key in ("0", *["+"] * zooms):
        page.keyboard.press(key)
    page.wait_for_timeout(600)
    box = canvas.bounding_box()
    if box is None:
        sys.exit("the page shows no timeline")
    middle, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(middle, y)
    page.mouse.down()
    page.evaluate(FORGET)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before_s = _cpu_s(session, "ScriptDuration")
    for offset in _back_and_forth(move_count, box["width"] / 3):
        page.mouse.move(middle + offset, y)
    script_s = _cpu_s(session, "ScriptDuration") - before_s
    frames_ms: list[float] = page.evaluate("window.frames_ms")
    page.mouse.up()
    return [later - sooner for sooner, later in pairwise(frames_ms)], 1000 * script_s / max(len(frames_ms), 1)


def _cpu_s(session: CDPSession, of: str) -> float:
    """Seconds that the page's thread has spent on tasks or script, on the CPU: what else the machine does adds none."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return next(float(metric["value"]) for metric in metrics if metric["name"] == of)


def _back_and_forth(count: int, width: float) -> Iterator[float]:
    """Offsets of 6 pixels a move, turned around at either side."""
    at, step = 0.0, 6.0
    for _ in range(count):
        if abs(at + step) > width:
            step = -step
        at += step
        yield at


def print_line(name: str, frames_ms: Sequence[float], script_ms: float) -> None:
    """Median and 95th percentile, the share of frames that came over half a frame late, and the script's part."""
    ordered = sorted(frames_ms)
    late = sum(frame > 1.5 * FRAME_MS for frame in ordered) / max(len(ordered), 1)
    p95_ms = ordered[int(0.95 * (len(ordered) - 1))]
    print(f"{name:<12}{statistics.median(ordered):>18.1f}{p95_ms:>8.1f}{late:>8.0%}{script_ms:>24.1f}")


if __name__ == "__main__":
    main()
