"""Where the figures come from: the inputs, the options, and the nsysan that read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nsysan.model.profilers import Profiler
from nsysan.model.run import OptionValue, ReportInfo, Run
from nsysan.model.trace import CaptureIdentity
from nsysan.model.units import counted, format_bytes
from nsysan.report import cells
from nsysan.report.elements import Cell, Column, Table
from nsysan.report.prose import capitalized, spelled
from nsysan.report.section import Layout, Section, View
from nsysan.report.terms import TERMS

SHOWN_REPORT_COUNT = 32
SHOWN_HASH_DIGITS = 16
_NOT_RECORDED = Cell("not recorded", style="faint")


class ProvenanceView(View, frozen=True):
    """The inputs with what identifies them, the options, and whatever else was kept."""

    options: str
    tables: tuple[Table, ...]


def _build(run: Run) -> ProvenanceView:
    size = format_bytes(sum(report.size_bytes for report in run.reports))
    heading = f"Read from {counted(len(run.reports), 'report')} of {size} by nsysan {run.nsysan_version}"
    context = f"Made {run.created_utc} (UTC). The page can be drawn again from run.json, without the trace."
    tables = (
        _report_table(run.reports),
        _clock_table(run.reports) if len(run.reports) > 1 else None,
        _unreadable_table(run.reports),
        _identity_table(run.provenance.identity),
    )
    shown = tuple(table for table in tables if table is not None)
    return ProvenanceView(_options_sentence(run.options), shown, heading=heading, context=context)


def _report_table(reports: Sequence[ReportInfo]) -> Table:
    hashed = any(report.sha256 is not None for report in reports)
    exported = any(report.profiler is Profiler.NSYS for report in reports)
    omitted_count = len(reports) - SHOWN_REPORT_COUNT
    return Table(
        id="reports",
        caption="Inputs",
        columns=(
            Column("Name"),
            Column("size", TERMS["file_size"], numeric=True, unit="bytes"),
            Column("fingerprint", TERMS["fingerprint"]),
            *((Column("SHA-256"),) if hashed else ()),
            Column("read as"),
            *((Column("Nsight Systems"), Column("export schema")) if exported else ()),
            Column("capture", TERMS["capture"], numeric=True, unit="ns"),
        ),
        rows=tuple(_report_row(report, hashed=hashed, exported=exported) for report in reports[:SHOWN_REPORT_COUNT]),
        note=f"{counted(omitted_count, 'more report')} stand in run.json." if omitted_count > 0 else None,
        source="reports[]",
    )


def _report_row(report: ReportInfo, *, hashed: bool, exported: bool) -> tuple[Cell, ...]:
    return (
        Cell(report.name, style="name"),
        cells.size(report.size_bytes),
        Cell(_short(report.fingerprint), style="code"),
        *((_known(report.sha256, style="code"),) if hashed else ()),
        Cell(report.reader),
        *((_known(report.nsys_version), _known(report.export_schema)) if exported else ()),
        _NOT_RECORDED if report.capture_ns is None else cells.duration(report.capture_ns),
    )


def _short(fingerprint: str) -> str:
    size, dash, digest = fingerprint.partition("-")
    return f"{size}{dash}{digest[:SHOWN_HASH_DIGITS]}"


def _clock_table(reports: Sequence[ReportInfo]) -> Table:
    return Table(
        id="clocks",
        caption="Ranks, and how the reports' clocks were aligned",
        columns=(
            Column("Name"),
            Column("rank", numeric=True),
            Column("world size", numeric=True),
            Column("clock offset", TERMS["clock"], numeric=True, unit="ns"),
            Column("ends agree to", TERMS["clock"], numeric=True, unit="ns"),
        ),
        rows=tuple(_clock_row(report) for report in reports[:SHOWN_REPORT_COUNT]),
        source="reports[]",
    )


def _clock_row(report: ReportInfo) -> tuple[Cell, ...]:
    offset_ns, residual_ns = report.clock_offset_ns, report.clock_residual_ns
    return (
        Cell(report.name, style="name"),
        _NOT_RECORDED if report.rank is None else cells.number(report.rank),
        _NOT_RECORDED if report.world_size is None else cells.number(report.world_size),
        _NOT_RECORDED if offset_ns is None else cells.duration(offset_ns),
        _NOT_RECORDED if residual_ns is None else cells.duration(residual_ns),
    )


def _unreadable_table(reports: Sequence[ReportInfo]) -> Table | None:
    rows = tuple(
        (Cell(report.name, style="name"), Cell(table, style="code"), cells.count(count))
        for report in reports[:SHOWN_REPORT_COUNT]
        for table, count in sorted(report.unreadable_records.items())
        if count
    )
    columns = (Column("Name"), Column("table"), Column("rows", numeric=True))
    caption = "Rows that were left out because a value they need is no whole number"
    return Table("unreadable", caption, columns, rows) if rows else None


def _options_sentence(options: Mapping[str, OptionValue]) -> str:
    given = [_option_text(name, value) for name, value in options.items() if _is_given(value)]
    return f"Options: {'; '.join(given)}. Every other option was left as it is." if given else "No option was given."


def _is_given(value: OptionValue) -> bool:
    """Whether the value is not the default: a time of 0 is a choice, no flag and no list are none."""
    return not (value is None or value is False or value == [])


def _option_text(name: str, value: OptionValue) -> str:
    if value is True:
        return name
    return f"{name} = {', '.join(value) if isinstance(value, list) else value}"


def _identity_table(identity: tuple[CaptureIdentity, ...] | None) -> Table | None:
    if not identity:
        return None
    fields = ("host", "user", "command_line", "path")
    return Table(
        id="identity",
        caption="Who recorded it, kept because --keep-identity was given",
        columns=tuple(Column(capitalized(spelled(field))) for field in fields),
        rows=tuple(tuple(_known(getattr(entry, field), style="name") for field in fields) for entry in identity),
    )


def _known(text: str | None, style: str | None = None) -> Cell:
    return _NOT_RECORDED if text is None else Cell(text, style=style)


SECTION = Section("provenance", 90, "Provenance", "Where the figures come from", _build, Layout.WIDE)
