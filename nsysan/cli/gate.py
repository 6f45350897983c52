"""``nsysan gate``: no run gets in that has lost against a baseline."""

from __future__ import annotations

from pathlib import Path

import click

from nsysan.cli.command import Command
from nsysan.cli.history import pair, store_option
from nsysan.cli.outputs import STDOUT, check_places, print_result, write_all
from nsysan.cli.paths import path_argument
from nsysan.cli.progress_line import watching
from nsysan.model.text import visible_text


@click.command("gate", cls=Command, short_help="Fail where runs lost against a baseline.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=path_argument)
@click.option(
    "--against", "name", metavar="NAME", required=True, help="The baseline: history add RUN... --baseline NAME."
)
@click.option(
    "--budgets",
    metavar="FILE",
    type=path_argument,
    help="What may be lost [default: nsysan.toml here, if there is one].",
)
@click.option(
    "--condition",
    "conditions",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pair,
    help="What must be equal for runs to be compared, such as batch=256.",
)
@click.option("--json", "json_path", metavar="FILE", type=path_argument, help="Write JSON (- for stdout).")
@click.option("--markdown", "markdown_path", metavar="FILE", type=path_argument, help="Write a summary in Markdown.")
@click.option("--junit", "junit_path", metavar="FILE", type=path_argument, help="Write JUnit XML, a test a figure.")
@click.option("--nsys", metavar="PATH", help="The nsys for .nsys-rep files [default: NSYSAN_NSYS, then the newest].")
@click.option("--force", is_flag=True, help="Replace an output file that nsysan did not write.")
@store_option
def gate_command(  # noqa: PLR0913 - one parameter an option
    *,
    runs: tuple[Path, ...],
    name: str,
    budgets: Path | None,
    conditions: dict[str, str],
    json_path: Path | None,
    markdown_path: Path | None,
    junit_path: Path | None,
    nsys: str | None,
    force: bool,
    store: Path,
) -> int:
    """Hold RUNs, all of one job, against a baseline's repeats: run.json files, reports, or folders of reports.

    Exits 1 where something was lost, 5 where that cannot be judged.
    """
    from nsysan.pipeline.history import Source, gate_runs
    from nsysan.report.gate_document import encode_gate
    from nsysan.report.gate_junit import encode_junit
    from nsysan.report.gate_markdown import encode_markdown
    from nsysan.report.gate_text import render_gate

    check_places((json_path, markdown_path, junit_path), force=force, inputs=[*runs, store])
    with watching(quiet=False) as progress:
        result = gate_runs(runs, name, Source(store, conditions, nsys), budgets, progress)
    # the exit code says it, too
    is_kept = json_path != STDOUT
    print_result(render_gate(result) if is_kept else encode_gate(result), is_kept=is_kept)
    asked = {
        "JSON": (json_path, encode_gate),
        "Markdown": (markdown_path, encode_markdown),
        "JUnit": (junit_path, encode_junit),
    }
    files = {path: (title, encode) for title, (path, encode) in asked.items() if path not in {None, STDOUT}}
    write_all({path: encode(result) for path, (_, encode) in files.items()}, force=force, inputs=[*runs, store])
    if is_kept:
        for path, (title, _) in files.items():
            click.echo(f"{title}: {visible_text(str(path))}")
    return {"passed": 0, "failed": 1, "undecided": 5}[result.outcome.value]


COMMAND = gate_command
