"""``nsysan analyze``: reports in; a page, a ``run.json`` and a one-screen text out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from nsysan.cli.amounts import up_to
from nsysan.cli.command import Command
from nsysan.cli.exit_codes import EXIT_FINDING
from nsysan.cli.outputs import STDOUT, check_places, print_result, write_all
from nsysan.cli.paths import path_argument
from nsysan.cli.progress_line import watching
from nsysan.cli.times import session_time
from nsysan.model.errors import UndecidableError, UsageError
from nsysan.model.text import visible_text
from nsysan.model.verdicts import Severity

if TYPE_CHECKING:
    from nsysan.model.run import Run


class _Outputs(NamedTuple):
    """Where results go; ``page`` and ``run_json`` are null where none is wanted."""

    page: Path | None
    run_json: Path | None
    force: bool
    quiet: bool

    def check(self) -> None:
        """Raises UsageError where the two results cannot go there."""
        if self.page == STDOUT:
            raise UsageError("The page cannot go to standard output.", "Give -o a file name; --json - is possible.")
        if self.page is not None and self.run_json is not None and self.page.resolve() == self.run_json.resolve():
            raise UsageError("The page and run.json cannot be one file.", "Give -o and --json two names.")


@click.command("analyze", cls=Command, short_help="Account for every nanosecond of every GPU.")
@click.argument("reports", metavar="REPORT...", nargs=-1, required=True, type=path_argument)
@click.option(
    "-o", "--output", metavar="FILE", type=path_argument, help="The page [default: REPORT.nsysan.html in this folder]."
)
@click.option(
    "--json",
    "run_json",
    metavar="FILE",
    type=path_argument,
    help="Write run.json (- for stdout); then no page, unless -o.",
)
@click.option(
    "--from", "from_ns", metavar="TIME", type=session_time, help="Begin of the window: 12.5s, 800ms, 30us, 1500ns."
)
@click.option("--to", "to_ns", metavar="TIME", type=session_time, help="End of the window.")
@click.option("--range", "nvtx_range", metavar="NVTX", help="This NVTX range as window: NAME[@DOMAIN][/INDEX].")
@click.option("--gpu", metavar="ID", help="Only this GPU: gpu0, 0 or a UUID.")
@click.option("--marker", metavar="NVTX", help="Each step has a range of this text, or that matches this expression.")
@click.option("--ranks", metavar="FILE=RANK,...", help="The rank of each report, or of PID=RANK each process.")
@click.option("--world-size", metavar="N", type=click.IntRange(min=1), help="How many ranks the whole job has.")
@click.option(
    "--model",
    metavar="FILE[,KEY=VALUE...]",
    help="The model: config.json of Hugging Face, arguments of Megatron, or keys.",
)
@click.option(
    "--peak",
    metavar="FLOPS",
    type=float,
    callback=up_to(1e18),
    help="Dense peak of one GPU, for MFU [default: its data sheet's].",
)
@click.option("--dtype", metavar="TYPE", help="The data type that the peak is of, such as bf16.")
@click.option("--price", metavar="P", type=float, callback=up_to(1e9), help="Of a GPU-hour, for costs.")
@click.option("--smaller", metavar="RUN.json", type=path_argument, help="The job on fewer GPUs, to tell how it scales.")
@click.option(
    "--ceilings", metavar="FILE", type=path_argument, help="What nsysan calibrate measured on such a machine."
)
@click.option("--only", metavar="ANALYSIS,...", help="Only these analyses, such as partition,gaps,kernels.")
@click.option(
    "--evidence",
    metavar="FILE",
    multiple=True,
    type=path_argument,
    help="What else tells of the run, repeatable: logs of training or NCCL, nccl-tests, PyTorch profiles, dmon, sacct.",
)
@click.option("--nsys", metavar="PATH", help="The nsys for .nsys-rep files [default: NSYSAN_NSYS, then the newest].")
@click.option(
    "--keep-export", is_flag=True, help="Keep the export of a .nsys-rep as REPORT.nsysan.sqlite in this folder."
)
@click.option("--scheduler", metavar="ADDRESS", help="Read each report as a task of this Dask cluster.")
@click.option("--fail-on", type=click.Choice([s.value for s in Severity]), help="Exit 1 from such a finding on.")
@click.option("--hash", "hash_content", is_flag=True, help="Record the SHA-256 of each whole report.")
@click.option("--keep-identity", is_flag=True, help="Keep host, user, command line and path in the results.")
@click.option("--force", is_flag=True, help="Replace an output file that nsysan did not write.")
@click.option("-q", "--quiet", is_flag=True, help="Print only the paths written, and errors.")
def analyze_command(  # noqa: PLR0913 - one parameter an option
    *,
    reports: tuple[Path, ...],
    output: Path | None,
    run_json: Path | None,
    from_ns: int | None,
    to_ns: int | None,
    nvtx_range: str | None,
    gpu: str | None,
    marker: str | None,
    ranks: str | None,
    world_size: int | None,
    model: str | None,
    peak: float | None,
    dtype: str | None,
    price: float | None,
    smaller: Path | None,
    ceilings: Path | None,
    only: str | None,
    evidence: tuple[Path, ...],
    nsys: str | None,
    keep_export: bool,
    scheduler: str | None,
    fail_on: str | None,
    hash_content: bool,
    keep_identity: bool,
    force: bool,
    quiet: bool,
) -> int:
    """Say where the GPUs' time went in REPORTs: .sqlite, .nsys-rep, .pt.trace.json[.gz], or a folder of them."""
    from nsysan.attribution.collectives.ranks import RankChoice, parse_ranks
    from nsysan.attribution.window import WindowChoice
    from nsysan.hardware.ceilings_json import read_ceilings
    from nsysan.pipeline.analyze import AnalyzeOptions, analyze
    from nsysan.pipeline.cluster import reading_on
    from nsysan.pipeline.inputs import expand_inputs, expand_patterns, report_stem
    from nsysan.pipeline.local_workers import read_locally
    from nsysan.pipeline.model_file import model_path, read_model
    from nsysan.pipeline.saved_run import load_run
    from nsysan.pipeline.smaller_run import step_parts
    from nsysan.pipeline.throughput import ThroughputOptions

    if fail_on is not None and only is not None:
        raise UsageError("--fail-on judges all analyses, so --only would hide findings.", "Leave out one of them.")
    options = AnalyzeOptions(
        window=WindowChoice(from_ns, to_ns, nvtx_range),
        gpu=gpu,
        marker=marker,
        ranks=RankChoice({} if ranks is None else parse_ranks(ranks), world_size),
        only=() if only is None else tuple(name.strip() for name in only.split(",")),
        evidence=evidence,
        ceilings=None if ceilings is None else read_ceilings(ceilings),
        hash_content=hash_content,
        keep_identity=keep_identity,
        nsys=nsys,
        keep_exports_in=Path() if keep_export else None,
        throughput=ThroughputOptions(
            model=None if model is None else read_model(model),
            peak_flop_per_s=peak,
            dtype=dtype,
            price=price,
            smaller=None if smaller is None else step_parts(load_run(smaller).results),
        ),
    )
    reports = tuple(expand_patterns(reports))
    page = output or (None if run_json else Path(f"{report_stem(reports[0])}.nsysan.html"))
    outputs = _Outputs(page, run_json, force, quiet)
    outputs.check()
    files = expand_inputs(reports)
    beside = (*evidence, *(path for path in (ceilings, smaller, model and model_path(model)) if path))
    check_places((page, run_json), force=force, inputs=[*files, *beside])
    with watching(quiet=quiet) as progress:
        run = analyze(files, options, progress, read_locally if scheduler is None else reading_on(scheduler))
    _deliver(run, outputs, [*files, *beside])
    return 0 if fail_on is None else _judge(run, Severity(fail_on))


COMMAND = analyze_command


def _deliver(run: Run, outputs: _Outputs, inputs: list[Path]) -> None:
    """Write the files first, so that what is printed about them is true."""
    from nsysan.model.run_json import encode_run
    from nsysan.report.renderers import renderer

    document = encode_run(run)
    # a format that is not asked for need not be loaded
    is_told = not outputs.quiet and outputs.run_json != STDOUT
    text = renderer("text").render(run) if is_told else ""
    files = {} if outputs.page is None else {outputs.page: renderer("html").render(run).encode("utf-8")}
    if outputs.run_json not in (None, STDOUT):
        files[outputs.run_json] = document
    write_all(files, force=outputs.force, inputs=inputs)
    if outputs.run_json == STDOUT:
        print_result(document)
        if not outputs.quiet:
            _warn(run)
        return
    if is_told:
        click.echo(text)
    for path in files:
        click.echo(f"{'Page' if path == outputs.page else 'Run'}: {visible_text(str(path))}")


def _warn(run: Run) -> None:
    """What the text says of warnings, where there is no text."""
    for note in run.notes:
        if note.is_warning:
            click.echo(f"nsysan: warning: {visible_text(note.sentence)}", err=True)


def _judge(run: Run, threshold: Severity) -> int:
    """1 where a finding is at least as severe. Raises UndecidableError where there was nothing to judge."""
    from nsysan.analysis.gpu_time import GpuTime
    from nsysan.model.results import Skipped

    gpu_time = run.results.get(GpuTime)
    if isinstance(gpu_time, Skipped):
        raise UndecidableError(f"--fail-on could not judge: {gpu_time.reason}.", gpu_time.recapture or "")
    return EXIT_FINDING if any(finding.severity.rank >= threshold.rank for finding in run.findings) else 0
