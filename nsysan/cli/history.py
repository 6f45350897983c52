"""``nsysan history``: runs kept in a file, listed, followed over time, and taken as baselines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from nsysan.cli.command import Group
from nsysan.cli.outputs import STDOUT, print_result, write_all
from nsysan.cli.paths import path_argument
from nsysan.cli.progress_line import watching
from nsysan.model.errors import UsageError
from nsysan.model.text import display_text

store_option: Callable[[Callable[..., Any]], Callable[..., Any]] = click.option(
    "--store",
    metavar="FILE",
    type=path_argument,
    default="nsysan-history.sqlite",
    envvar="NSYSAN_HISTORY",
    help="The history [default: NSYSAN_HISTORY, then nsysan-history.sqlite in this folder].",
)


def pair(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """``KEY=VALUE`` texts by key, safe to show."""
    for text in texts:
        if "=" not in text or text.startswith("="):
            raise click.BadParameter(f"{text!r} is no KEY=VALUE.")
    return {display_text(key): display_text(value) for key, _, value in (text.partition("=") for text in texts)}


@click.group("history", cls=Group, short_help="Keep runs, and follow them over time.")
def history_command() -> None:
    """Keep runs in a file that many processes may write to, and follow their figures over time."""


COMMAND = history_command


@history_command.command("add", short_help="Keep runs.")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True, type=path_argument)
@click.option("--baseline", metavar="NAME", help="They are repeats that later runs are judged against under this name.")
@click.option("--commit", metavar="ID", help="The commit they were recorded of.")
@click.option("--label", "labels", metavar="KEY=VALUE", multiple=True, callback=pair, help="Something to find them by.")
@click.option(
    "--condition",
    "conditions",
    metavar="KEY=VALUE",
    multiple=True,
    callback=pair,
    help="What must be equal for runs to be compared, such as batch=256.",
)
@click.option("--nsys", metavar="PATH", help="The nsys for .nsys-rep files [default: NSYSAN_NSYS, then the newest].")
@store_option
def add_command(  # noqa: PLR0913 - one parameter an option
    *,
    runs: tuple[Path, ...],
    baseline: str | None,
    commit: str | None,
    labels: dict[str, str],
    conditions: dict[str, str],
    nsys: str | None,
    store: Path,
) -> None:
    """Keep RUNs: run.json files, reports, or folders with the reports of one run. A run that is kept stays one."""
    from nsysan.pipeline.history import Source, details_now, keep_runs

    details = details_now(baseline=baseline, commit=commit, labels=labels)
    with watching(quiet=False) as progress:
        kept = keep_runs(runs, Source(store, conditions, nsys), details, progress)
    for run_id, is_new in kept.items():
        click.echo(run_id if is_new else f"{run_id} was there already")


@history_command.command("list", short_help="The runs there are.")
@click.option("--baseline", metavar="NAME", help="Only the runs of this baseline.")
@store_option
def list_command(*, baseline: str | None, store: Path) -> None:
    """List the runs, in the order they were added."""
    from nsysan.history.store import Store
    from nsysan.report.history_text import LISTED_FIGURES, render_list

    runs = Store(store).runs(LISTED_FIGURES)
    chosen = [run for run in runs if baseline is None or baseline in run.baselines]
    print_result(render_list(chosen))


@history_command.command("show", short_help="What is kept of a run.")
@click.argument("run_id", metavar="RUN_ID")
@store_option
def show_command(*, run_id: str, store: Path) -> None:
    """Show the run whose id begins with RUN_ID: conditions, findings and figures."""
    from nsysan.history.store import Store
    from nsysan.report.history_text import render_show

    print_result(render_show(Store(store).run(run_id)))


@history_command.command("trend", short_help="A figure over time.")
@click.argument("figure", metavar="FIGURE", default="step.mean")
@store_option
def trend_command(*, figure: str, store: Path) -> None:
    """Print FIGURE (an id as history show prints it) of every run, and where its level changes."""
    from nsysan.history.store import Store
    from nsysan.report.history_text import render_trend

    runs = Store(store).runs([figure])
    known = next((found for run in runs if (found := run.snapshot.figure(figure)) is not None), None)
    if known is None:
        raise UsageError(f"No run has a figure {display_text(figure)!r}.", "Figures: nsysan history show RUN_ID")
    print_result(render_trend(known, runs))


@history_command.command("export", short_help="Every run and figure, for other tools.")
@click.option("-o", "--output", metavar="FILE", default="-", type=path_argument, help="Where to [default: stdout].")
@click.option("--force", is_flag=True, help="Replace an output file that nsysan did not write.")
@store_option
def export_command(*, output: Path, force: bool, store: Path) -> None:
    """Write every run with its figures as JSON, one a line."""
    from nsysan.history.export import encode_runs
    from nsysan.history.store import Store

    data = encode_runs(Store(store).runs(None))
    if output == STDOUT:
        print_result(data)
        return
    write_all({output: data}, force=force, inputs=[store])
