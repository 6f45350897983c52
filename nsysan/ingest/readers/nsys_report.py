"""A ``.nsys-rep`` or ``.qdrep``, through ``nsys export`` of the user's own nsys."""

from __future__ import annotations

import shlex

from nsysan.ingest.nsys.conversion import exported
from nsysan.ingest.nsys.installation import NsysInstallation, find_nsys, shown_version
from nsysan.ingest.nsys.report import MAGIC, collector_version
from nsysan.ingest.nsys.survey import survey_export
from nsysan.ingest.nsys.trace import read_export
from nsysan.ingest.reader import Candidate, Reader, ReadOptions
from nsysan.model.contents import Contents
from nsysan.model.errors import InputError, MissingToolError
from nsysan.model.text import visible_text
from nsysan.model.trace import Trace

_ID = "nsys_report"


def _recognise(candidate: Candidate) -> bool:
    return candidate.head.startswith(MAGIC)


def _read(candidate: Candidate, options: ReadOptions) -> Trace:
    nsys = _exporter(candidate, options)
    with exported(candidate.path, candidate.shown_name, nsys) as connection:
        options.tell(f"reading {candidate.shown_name}")
        return read_export(connection, candidate, _ID, options)


def _survey(candidate: Candidate, options: ReadOptions) -> Contents:
    nsys = _exporter(candidate, options)
    with exported(candidate.path, candidate.shown_name, nsys, every_table=True) as connection:
        return survey_export(connection, candidate, _ID)


def _exporter(candidate: Candidate, options: ReadOptions) -> NsysInstallation:
    nsys = find_nsys(options.nsys)
    if nsys is None:
        raise _no_nsys(candidate)
    _refuse_newer(candidate, nsys)
    options.tell(f"exporting {candidate.shown_name} with nsys {nsys.shown_version}")
    return nsys


def _no_nsys(candidate: Candidate) -> MissingToolError:
    report, export = candidate.path.name, candidate.path.with_suffix(".sqlite").name
    command = f"nsys export -t sqlite -o {shlex.quote(f'./{export}')} {shlex.quote(f'./{report}')}"
    return MissingToolError(
        f"{candidate.shown_name} must be exported to be read, and there is no nsys on this machine.",
        f"Name one with --nsys, or run this where Nsight Systems is, and give the file it writes: "
        f"{visible_text(command)}",
    )


def _refuse_newer(candidate: Candidate, nsys: NsysInstallation) -> None:
    recorded_by = collector_version(candidate.head)
    if recorded_by is not None and recorded_by > nsys.version:
        raise InputError(
            f"{candidate.shown_name} was recorded by nsys {shown_version(recorded_by)}, and the nsys at hand, "
            f"{nsys.shown_version}, is older and cannot read it.",
            "Update Nsight Systems, or name a newer nsys with --nsys.",
        )


READER = Reader(_ID, _recognise, _read, survey=_survey)
