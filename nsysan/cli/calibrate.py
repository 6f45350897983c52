"""``nsysan calibrate``: what this machine reaches, measured, into a ``ceilings.json``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from nsysan.cli.command import Command
from nsysan.cli.outputs import check_places, write_all
from nsysan.cli.paths import path_argument
from nsysan.cli.progress_line import watching
from nsysan.model.clock import now_utc
from nsysan.model.text import visible_text

if TYPE_CHECKING:
    from nsysan.model.ceilings import Ceilings


@click.command("calibrate", cls=Command, short_help="Measure what this machine reaches.")
@click.option("--quick", is_flag=True, help="Fewer shapes and sizes, a minute or two in all.")
@click.option("--only", metavar="MEASUREMENT,...", help="Only these: gemm, memory, links, launches, nccl.")
@click.option(
    "--shapes",
    metavar="FILE",
    type=path_argument,
    help="The products of a model (config.json) or run (run.json, report) as well.",
)
@click.option("--simulate", metavar="NAME", help="Measure nothing: take the data sheet of this GPU, marked as such.")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=path_argument,
    default="ceilings.json",
    show_default=True,
    help="Where to.",
)
@click.option("--force", is_flag=True, help="Measure although others use the GPU; replace a file of somebody else.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the path written, and errors.")
def calibrate_command(  # noqa: PLR0913 - one parameter an option
    *, quick: bool, only: str | None, shapes: Path | None, simulate: str | None, output: Path, force: bool, quiet: bool
) -> None:
    """Measure what the GPUs of this machine reach: products, memory, links, launches, collectives.

    Under torchrun, srun or mpirun the collectives are those of all its processes.
    """
    from nsysan.hardware.ceilings_json import encode_ceilings
    from nsysan.hardware.simulated import simulate as simulated

    inputs = [] if shapes is None else [shapes]
    check_places((output,), force=force, inputs=inputs)
    if simulate is not None:
        ceilings: Ceilings | None = simulated(simulate, now_utc())
    else:
        names = [] if only is None else [name.strip() for name in only.split(",")]
        ceilings = _measured(names, shapes, quick=quick, force=force, quiet=quiet)
    if ceilings is not None:
        write_all({output: encode_ceilings(ceilings)}, force=force, inputs=inputs)
        click.echo(visible_text(str(output)))


COMMAND = calibrate_command


def _measured(only: list[str], shapes: Path | None, *, quick: bool, force: bool, quiet: bool) -> Ceilings | None:
    """What was measured; None in all processes but the first, which alone writes it."""
    from nsysan.calibrate.bench import Bench
    from nsysan.calibrate.calibration import calibrate, estimate_s, measurements
    from nsysan.calibrate.ranks import current_ranks
    from nsysan.calibrate.sampling import FULL, QUICK
    from nsysan.pipeline.asked_products import asked_products

    wanted = measurements(only)
    more = () if shapes is None else asked_products(shapes)
    ranks = current_ranks()
    try:
        with watching(quiet=quiet or ranks.rank > 0) as progress:
            bench = Bench(QUICK if quick else FULL, ranks, progress, more)
            if not quiet and ranks.rank == 0:
                minutes = estimate_s(bench, wanted) / 60
                click.echo(f"Measuring takes about {max(minutes, 0.1):.1f} minutes; Ctrl-C ends it.", err=True)
            ceilings = calibrate(bench, wanted, force=force)
    finally:
        ranks.close()
    return ceilings if ranks.rank == 0 else None
