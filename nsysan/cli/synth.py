"""``nsysan synth``: the traces of a simulated training job, and what is true of them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from nsysan.cli.command import Command
from nsysan.cli.outputs import print_result
from nsysan.cli.paths import path_argument
from nsysan.model.errors import UsageError
from nsysan.model.units import NS_PER_MS

if TYPE_CHECKING:
    from nsysan.synth.request import FileFormat
    from nsysan.synth.scenario import Scenario


def _list_scenarios(context: click.Context, _option: click.Parameter, is_asked: bool) -> None:  # noqa: FBT001 -- as click calls it
    from nsysan.synth.scenario import all_scenarios, worked_scenarios

    if is_asked:
        known = (*all_scenarios(), *worked_scenarios())
        print_result("".join(f"{one.spelling:22}{one.summary}\n" for one in known))
        context.exit()


def _refuse_nan(_context: click.Context, _option: click.Parameter, value: float | None) -> float | None:
    """The value, which no bound has kept from being no number at all."""
    if value is not None and math.isnan(value):
        raise click.BadParameter(f"{value} is no number.")
    return value


@click.command("synth", cls=Command, short_help="Write the traces of a simulated training job, and their truth.")
@click.argument("scenario", required=False)
@click.option(
    "-o", "--output", "folder", metavar="DIR", default=".", type=path_argument, help="Where to [default: this folder]."
)
@click.option("--ranks", default=4, show_default=True, type=click.IntRange(1, 1024), help="Processes, one GPU each.")
@click.option("--steps", default=8, show_default=True, type=click.IntRange(min=2), help="Training steps.")
@click.option("--seed", default=0, show_default=True, help="Equal seeds write equal files.")
@click.option(
    "--format",
    "file_format",
    default="sqlite",
    show_default=True,
    type=click.Choice(["sqlite", "kineto"]),
    help="Of nsys, or of PyTorch's profiler.",
)
@click.option("--schema", default="3.25", show_default=True, type=click.Choice(["3.7", "3.25"]), help="Export schema.")
@click.option(
    "--layout", default="one", show_default=True, type=click.Choice(["one", "masked", "per-rank"]), help="Reports."
)
@click.option("--without-cause", is_flag=True, help="The same job without what holds it back.")
@click.option("--omit-rank", "omitted_ranks", metavar="N", multiple=True, type=int, help="Leave a rank's file out.")
@click.option(
    "--clock-error",
    "clock_error_ms",
    metavar="MS",
    type=click.FloatRange(min=0, max=10_000),
    callback=_refuse_nan,
    help="Let sessions begin apart, on clocks up to so wrong.",
)
@click.option(
    "--nvtx",
    "spelling",
    default="pytorch",
    show_default=True,
    type=click.Choice(["pytorch", "lightning", "megatron-bridge", "deepspeed", "jax"]),
    help="Whose ranges are around steps.",
)
@click.option("--include-blobs", "includes_blobs", is_flag=True, help="With the payloads of NCCL's ranges.")
@click.option(
    "--trace",
    default="cuda,nvtx",
    show_default=True,
    metavar="KIND,...",
    help="Of cuda, nvtx, osrt, sched, memory, sync, metrics, mpi.",
)
@click.option(
    "--repeat", default=1, show_default=True, type=click.IntRange(min=1), help="Record the job so often in a row."
)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_scenarios,
    help="List the scenarios.",
)
def synth_command(  # noqa: PLR0913 -- one parameter an option
    *,
    scenario: str | None,
    folder: Path,
    ranks: int,
    steps: int,
    seed: int,
    file_format: str,
    schema: str,
    layout: str,
    without_cause: bool,
    omitted_ranks: tuple[int, ...],
    clock_error_ms: float | None,
    spelling: str,
    includes_blobs: bool,
    trace: str,
    repeat: int,
) -> None:
    """Write the traces of a simulated training job as Nsight Systems would export them, and their truth beside them.

    With --format kineto they are traces of PyTorch's profiler, one a rank. SCENARIO says what holds the job back. The
    truth tells where the time of each GPU went, and how much faster the same job is without the cause.
    """
    from nsysan.synth.files import write
    from nsysan.synth.generate import generate
    from nsysan.synth.placement import Layout
    from nsysan.synth.request import FileFormat, Request
    from nsysan.synth.trace_kind import parse_kinds

    _refuse_options_of_sqlite(FileFormat(file_format), layout)
    request = Request(
        scenario=_asked(scenario, without_cause=without_cause),
        rank_count=ranks,
        step_count=steps,
        seed=seed,
        schema=schema,
        layout=Layout(layout),
        omitted_ranks=frozenset(omitted_ranks),
        clock_error_ns=None if clock_error_ms is None else round(clock_error_ms * NS_PER_MS),
        file_format=FileFormat(file_format),
        spelling=spelling,
        includes_blobs=includes_blobs,
        kinds=parse_kinds(trace),
        recording_count=repeat,
    )
    for path in write(generate(request), folder):
        click.echo(str(path))


COMMAND = synth_command


def _asked(name: str | None, *, without_cause: bool) -> Scenario:
    """The scenario of that name. Raises UsageError where there is none, or nothing to take away from it."""
    from nsysan.synth.scenario import find_scenario

    if name is None:
        raise UsageError("Which scenario?", "List them with: nsysan synth --list")
    found = find_scenario(name)
    return found.without_cause() if without_cause else found


def _refuse_options_of_sqlite(file_format: FileFormat, layout: str) -> None:
    """Raise UsageError where an option was given that a trace of PyTorch's profiler has no use for."""
    from nsysan.synth.placement import Layout
    from nsysan.synth.request import FileFormat

    if file_format is not FileFormat.KINETO:
        return
    if _is_given("schema"):
        raise UsageError("Only SQLite exports have a schema.", "Leave --schema out, or write --format sqlite.")
    if _is_given("layout") and layout != Layout.PER_RANK:
        raise UsageError("PyTorch's profiler writes a file of each rank.", "Leave --layout out, or give per-rank.")


def _is_given(option: str) -> bool:
    """Whether the command line names the option, be it with its default."""
    return click.get_current_context().get_parameter_source(option) is not ParameterSource.DEFAULT
