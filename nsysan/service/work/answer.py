"""What becomes of an order: results in its folder, or a sentence. Nothing that a file brings about goes unanswered."""

from __future__ import annotations

import errno
import traceback
from pathlib import Path

from nsysan.model.errors import NsysanError
from nsysan.model.progress import Progress
from nsysan.model.run import Run
from nsysan.model.run_json import encode_run
from nsysan.model.units import format_bytes
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.throughput import ThroughputOptions
from nsysan.report.renderers import renderers
from nsysan.service.folder import settle
from nsysan.service.settings import UnpackingLimits
from nsysan.service.unpacking.budget import DangerousArchiveError
from nsysan.service.unpacking.unpack import Given, unpack
from nsysan.service.work.evidence import told_apart
from nsysan.service.work.limits import limit_process
from nsysan.service.work.order import PAGE, RESULT, RUN_JSON, Analysed, Failed, Order, Told
from nsysan.service.work.renaming import renamed, sentence_for_people
from nsysan.service.work.said import named_model, said_model, said_ranks
from nsysan.service.work.summary import summary_of


def answer(order: Order, progress: Progress) -> Told:
    """What became of it. No sentence holds a path of the server's."""
    names: dict[Path, str] = {}
    try:
        limit_process(order.memory_bytes, order.cpu_s, order.file_bytes)
        return Analysed(_analyse(order, names, progress))
    except NsysanError as error:
        message, hint = (sentence_for_people(text, names, order.folder) for text in (error.message, error.hint))
        return Failed(message, hint, is_dangerous=isinstance(error, DangerousArchiveError))
    except (MemoryError, SystemError):
        # C code that finds no memory while a module is loaded may not say so, which Python calls a SystemError
        traceback.print_exc()
        return _needs_more(order)
    except OSError as error:
        if error.errno == errno.ENOMEM:
            return _needs_more(order)
        return Failed(f"The server could not go on: {error.strerror}.", "Ask whoever runs it to make room.")
    except Exception as error:  # noqa: BLE001 - a fault of ours must not keep the run waiting for ever
        traceback.print_exc()
        return Failed(
            f"nsysan failed on a fault of its own: {type(error).__name__}.",
            "Please report it, with the file if you may.",
        )


def _needs_more(order: Order) -> Failed:
    return Failed(
        f"The analysis needs more memory than the {format_bytes(order.memory_bytes)} that it may take here.",
        "Record fewer steps, or ask whoever runs the server for more.",
    )


def _analyse(order: Order, names: dict[Path, str], progress: Progress) -> dict[str, object]:
    """The summary of the run, whose page and run.json then lie in the folder; ``names`` is filled on the way."""
    inputs = Path(order.folder, "inputs")
    inputs.mkdir()
    progress.begin("unpacking")
    given = [Given(Path(file.path), file.name) for file in order.files]
    found = unpack(given, inputs, UnpackingLimits(order.unpacked_bytes, order.entries))
    names.update({entry.path: entry.name for entry in found})
    model = order.said.get("model", "")
    apart = told_apart(found, named_model(model))
    options = AnalyzeOptions(
        evidence=apart.evidence,
        nsys=order.nsys,
        ranks=said_ranks(order.said, found),
        throughput=ThroughputOptions(said_model(model, found, apart.models)),
    )
    run = analyze(apart.reports, options, progress)
    progress.begin("drawing the page")
    run = renamed(run, names)
    _deliver(run, Path(order.folder, RESULT))
    return summary_of(run)


def _deliver(run: Run, folder: Path) -> None:
    """Have the disk hold the results."""
    folder.mkdir()
    (folder / PAGE).write_text(renderers()["html"].render(run), encoding="utf-8")
    (folder / RUN_JSON).write_bytes(encode_run(run))
    for path in (folder / PAGE, folder / RUN_JSON, folder):
        settle(path)
