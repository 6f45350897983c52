"""``nsysan serve``: uploads in, report pages out, over HTTP."""

from __future__ import annotations

from pathlib import Path

import click

from nsysan.cli.command import Command
from nsysan.cli.paths import path_argument

GIB = 1 << 30


@click.command("serve", cls=Command, short_help="Take uploads and show their reports over HTTP.")
@click.option("--data", metavar="DIR", type=path_argument, required=True, help="The folder everything is kept in.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8470, show_default=True, type=click.IntRange(0, 65535), help="The port; 0 for any.")
@click.option("--public-url", metavar="URL", help="How clients reach it, as https://nsysan.example; demands tokens.")
@click.option("--require-tokens", is_flag=True, help="Demand tokens on this machine too.")
@click.option("--discard-captures", is_flag=True, help="Remove what was uploaded once it is analysed.")
@click.option("--workers", metavar="N", type=click.IntRange(1, 256), help="Analyses at once [default: half the cores].")
@click.option("--nsys", metavar="PATH", help="The nsys for .nsys-rep files [default: NSYSAN_NSYS, then the newest].")
@click.option("--file-gib", default=50.0, show_default=True, type=click.FloatRange(0.001), help="The largest file.")
@click.option("--memory-gib", default=8.0, show_default=True, type=click.FloatRange(0.05), help="Memory an analysis.")
@click.option("--cpu-s", default=3600, show_default=True, type=click.IntRange(1), help="CPU time of an analysis.")
@click.option("--disk-gib", default=200.0, show_default=True, type=click.FloatRange(0.001), help="Disk of an analysis.")
@click.option(
    "--free-gib", default=1.0, show_default=True, type=click.FloatRange(0), help="What the disk must keep free."
)
def serve_command(  # noqa: PLR0913 - one parameter an option
    *,
    data: Path,
    host: str,
    port: int,
    public_url: str | None,
    require_tokens: bool,
    discard_captures: bool,
    workers: int | None,
    nsys: str | None,
    file_gib: float,
    memory_gib: float,
    cpu_s: int,
    disk_gib: float,
    free_gib: float,
) -> None:
    """Take uploads, analyse them, and show and share the reports, until a signal says to stop.

    On this machine alone nobody needs a token; wherever others could come in, everybody does: nsysan token add.
    """
    from msgspec.structs import replace

    from nsysan.model.errors import MissingToolError
    from nsysan.service.settings import Settings, UnpackingLimits, UploadLimits, WorkerLimits

    try:
        from nsysan.service.serving import serve
    except ImportError as error:
        raise MissingToolError(
            f"A server needs {error.name}, which is not installed.", "Install it with: pip install 'nsysan[serve]'"
        ) from error
    disk_bytes = int(disk_gib * GIB)
    settings = Settings(
        data=data,
        host=host,
        port=port,
        public_url=public_url,
        require_tokens=require_tokens,
        discard_captures=discard_captures,
        nsys=nsys,
        uploads=UploadLimits(file_bytes=int(file_gib * GIB), free_bytes=int(free_gib * GIB)),
        unpacking=UnpackingLimits(unpacked_bytes=disk_bytes),
        worker=WorkerLimits(memory_bytes=int(memory_gib * GIB), cpu_s=cpu_s, disk_bytes=disk_bytes),
    )
    serve(settings if workers is None else replace(settings, worker_count=workers), _announce)


COMMAND = serve_command


def _announce(address: str) -> None:
    click.echo(f"Serving at {address}")
