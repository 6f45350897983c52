"""``nsysan compare``: two runs side by side, sentences first."""

from __future__ import annotations

from pathlib import Path

import click

from nsysan.cli.command import Command
from nsysan.cli.exit_codes import EXIT_UNDECIDED
from nsysan.cli.outputs import STDOUT, check_places, print_result, write_all
from nsysan.cli.paths import path_argument
from nsysan.cli.progress_line import watching
from nsysan.model.errors import UsageError
from nsysan.model.text import visible_text


@click.command("compare", cls=Command, short_help="What changed from one run to another.")
@click.argument("before", metavar="A", type=path_argument)
@click.argument("after", metavar="B", type=path_argument)
@click.option("-o", "--output", metavar="FILE", type=path_argument, help="Write the page here too.")
@click.option("--json", "json_path", metavar="FILE", type=path_argument, help="Write JSON (- for stdout).")
@click.option("--marker", metavar="NVTX", help="Each step has a range of this text, or that matches this expression.")
@click.option("--nsys", metavar="PATH", help="The nsys for .nsys-rep files [default: NSYSAN_NSYS, then the newest].")
@click.option("--force", is_flag=True, help="Replace an output file that nsysan did not write.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the paths written, and errors.")
def compare_command(  # noqa: PLR0913 - one parameter an option
    *,
    before: Path,
    after: Path,
    output: Path | None,
    json_path: Path | None,
    marker: str | None,
    nsys: str | None,
    force: bool,
    quiet: bool,
) -> int:
    """Say what changed from run A to run B: each a run.json, a report, or a folder of reports.

    Exits 5 where they have nothing to be compared by.
    """
    from nsysan.history.comparison import compare
    from nsysan.history.snapshot import snapshot_of
    from nsysan.pipeline.analyze import AnalyzeOptions
    from nsysan.pipeline.saved_run import run_of
    from nsysan.report.comparison.document import encode_comparison
    from nsysan.report.comparison.page import render_page
    from nsysan.report.comparison.text import render_text

    if output == STDOUT:
        raise UsageError("The page cannot go to standard output.", "Give -o a file name; --json - is possible.")
    if output is not None and json_path is not None and output.resolve() == json_path.resolve():
        raise UsageError("The page and the JSON cannot be one file.", "Give -o and --json two names.")
    check_places((output, json_path), force=force, inputs=[before, after])
    with watching(quiet=quiet) as progress:
        first, second = (run_of(path, AnalyzeOptions(marker=marker, nsys=nsys), progress) for path in (before, after))
    comparison = compare(snapshot_of(first), snapshot_of(second))
    document = encode_comparison(comparison)
    files = {} if output is None else {output: render_page(comparison).encode("utf-8")}
    if json_path not in (None, STDOUT):
        files[json_path] = document
    write_all(files, force=force, inputs=[before, after])
    if json_path == STDOUT:
        print_result(document)
    elif not quiet:
        print_result(render_text(comparison), is_kept=bool(files))
    for path in () if json_path == STDOUT else files:
        click.echo(f"{'Page' if path == output else 'JSON'}: {visible_text(str(path))}")
    return EXIT_UNDECIDED if comparison.whole is None else 0


COMMAND = compare_command
