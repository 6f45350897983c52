"""``nsysan gate``: no run gets in that has lost against a baseline."""

from __future__ import annotations

from pathlib import Path

import click

from nsysan.cli.history import pair, store_option
from nsysan.cli.outputs import STDOUT, write_all
from nsysan.cli.paths import path_argument
from nsysan.cli.progress_line import watching
from nsysan.model.text import visible_text

BUDGETS = Path("nsysan.toml")


@click.command("gate", short_help="Fail where runs lost against a baseline.")
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
    nsys: str | None,
    force: bool,
    store: Path,
) -> int:
    """Hold RUNs, all of one job, against a baseline's repeats: run.json files, reports, or folders of reports.

    Exits 1 where something was lost, 5 where that cannot be judged.
    """
    from nsysan.history.budgets import Budgets, read_budgets
    from nsysan.history.gate import judge
    from nsysan.history.store import Store
    from nsysan.pipeline.analyze import AnalyzeOptions
    from nsysan.pipeline.snapshots import read_snapshots
    from nsysan.report.gate_document import encode_gate
    from nsysan.report.gate_text import render_gate

    asked = read_budgets(budgets or BUDGETS) if budgets is not None or BUDGETS.exists() else Budgets()
    history = Store(store)
    repeats, latest = history.baseline(name), history.latest()
    with watching(quiet=False) as progress:
        snapshots = read_snapshots(runs, AnalyzeOptions(nsys=nsys), conditions, progress)
    result = judge(name, [run.snapshot for run in repeats], list(snapshots.values()), asked, latest.snapshot)
    if json_path == STDOUT:
        click.echo(encode_gate(result), nl=False)
    else:
        click.echo(render_gate(result), nl=False)
    if json_path is not None and json_path != STDOUT:
        write_all({json_path: encode_gate(result)}, force=force, inputs=[*runs, store])
        click.echo(f"JSON: {visible_text(str(json_path))}")
    return {"passed": 0, "failed": 1, "undecided": 5}[result.outcome.value]


COMMAND = gate_command
