"""What a report holds, as a text of at most 100 columns: one screen where the report lets it be one."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone

from nsysan.model.contents import Contents, DeviceWork, NamedCount, ProcessWork
from nsysan.model.profilers import Profiler
from nsysan.model.text import visible_text
from nsysan.model.trace import PhysicalGpu, ProcessGroup
from nsysan.model.units import NS_PER_S, counted, format_bytes, format_count, format_duration, format_timestamp
from nsysan.report.columns import aligned
from nsysan.report.prose import NO_BREAK_SPACE, unbroken

WIDTH = 100
_ROW_COUNT = 8
_NOT_RECORDED = "not recorded"
_NOT_COUNTED = "not counted in so large a report; nsysan info --full counts"
_ENUMERATION = "ENUM_"
_HELP = {
    Profiler.NSYS: "The whole command line: nsysan record-help",
    Profiler.TORCH: "The whole call: nsysan record-help --profiler torch",
}


def render_contents(contents: Contents) -> str:
    """The contents as facts, devices, tables, and what cannot be answered."""
    blocks = (
        _facts(contents),
        _device_lines(contents.devices or ()),
        _table_lines(contents),
        _question_lines(contents),
    )
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _facts(contents: Contents) -> list[str]:
    facts = {
        "Report": _report(contents),
        "Capture": _capture(contents),
        "Recorded by": _identity(contents),
        "Hosts": _hosts(contents),
        "Processes": _processes(contents),
        "GPUs": _gpus(contents.gpus),
        "GPU work": _work(contents),
        **_ranges(contents),
        "Rank": _rank(contents),
        "Communicators": _communicators(contents),
    }
    return [line for name, fact in facts.items() if fact for line in _wrapped(f"{name}: {fact}")]


def _report(contents: Contents) -> str:
    recorder = None if contents.nsys_version is None else f"exported by nsys {contents.nsys_version}"
    schema = None if contents.export_schema is None else f"schema {contents.export_schema}"
    known = (contents.name, format_bytes(contents.size_bytes), recorder, schema)
    return ", ".join(part for part in known if part is not None)


def _capture(contents: Contents) -> str:
    length = f"length {_NOT_RECORDED}" if contents.capture_ns is None else format_duration(contents.capture_ns)
    return f"{length}, begun {_utc(contents.session_start_utc_ns)}"


def _utc(epoch_ns: str | None) -> str:
    try:
        moment = datetime.fromtimestamp(int(epoch_ns or "") // NS_PER_S, timezone.utc)
    except (ValueError, OverflowError, OSError):
        return f"at a time that was {_NOT_RECORDED}"
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def _identity(contents: Contents) -> str:
    identity = contents.identity
    if identity is None:
        return ""
    told = {"user": identity.user, "command": identity.command_line, "path": identity.path}
    return ", ".join(f"{what} {value}" for what, value in told.items() if value is not None)


def _hosts(contents: Contents) -> str:
    if contents.host_count is None:
        return _NOT_RECORDED
    return _listed(contents.hosts) if contents.hosts else format_count(contents.host_count)


def _processes(contents: Contents) -> str:
    seen = "" if contents.process_count is None else f"; nsys saw {format_count(contents.process_count)}"
    if contents.processes is None:
        return seen.removeprefix("; ")
    active = _listed(_process(process) for process in contents.processes)
    return f"{active or 'none did GPU work or opened a range'}{seen}"


def _process(process: ProcessWork) -> str:
    pid = "of unknown id" if process.pid is None else str(process.pid)
    return pid if process.name is None else f"{pid} ({process.name})"


def _gpus(gpus: Sequence[PhysicalGpu]) -> str:
    models = Counter(map(_model, gpus))
    return _listed(f"{count} x {model}" if count > 1 else model for model, count in models.items()) or _NOT_RECORDED


def _model(gpu: PhysicalGpu) -> str:
    sms = None if gpu.sm_count is None else f"{gpu.sm_count} SMs"
    memory = None if gpu.memory_bytes is None else format_bytes(gpu.memory_bytes)
    details = ", ".join(part for part in (sms, memory) if part is not None)
    return f"{gpu.name or 'unnamed'}{f' ({details})' if details else ''}"


def _work(contents: Contents) -> str:
    if contents.work_start_ns is None or contents.work_end_ns is None:
        return _NOT_RECORDED if contents.is_counted else _NOT_COUNTED
    span = f"from {format_timestamp(contents.work_start_ns)} to {format_timestamp(contents.work_end_ns)}"
    return f"{span}, {format_duration(contents.work_end_ns - contents.work_start_ns)}"


def _ranges(contents: Contents) -> dict[str, str]:
    """How many ranges there are and what they are called; only those of nsys are NVTX ranges."""
    first, second = ("NVTX", "Ranges") if contents.profiler is Profiler.NSYS else ("Ranges", "Names")
    found = contents.nvtx
    if found is None:
        return {first: _NOT_RECORDED} if contents.is_counted else {}
    domains = f"{counted(found.range_count, 'range')}; by domain: {_listed(map(_count, found.domains))}"
    return {first: domains, second: "; ".join(map(_count, found.frequent_names))}


def _count(entry: NamedCount) -> str:
    return f"{entry.name} {format_count(entry.count)}"


def _rank(contents: Contents) -> str:
    if contents.rank is None:
        return "" if contents.world_size is None else f"{_NOT_RECORDED}; {contents.world_size} in the job"
    return f"{contents.rank}{'' if contents.world_size is None else f' of {contents.world_size}'}"


def _communicators(contents: Contents) -> str:
    found = contents.communicators
    if found is None:
        return _NOT_RECORDED if contents.is_counted else ""
    nccl = f"{counted(found.nccl_range_count, 'NCCL range')}" if found.nccl_range_count else ""
    ranks = f"MPI ranks {_listed(map(str, found.mpi_ranks))}" if found.mpi_ranks else ""
    sizes = f"MPI communicators of {_listed(map(str, found.mpi_sizes))} ranks" if found.mpi_sizes else ""
    groups = found.process_groups
    names = _listed(map(_group, sorted(groups, key=lambda group: -(group.size or 0))))
    listed = f"{counted(len(groups), 'process group')}: {names}" if groups else ""
    calls = found.collective_call_count
    called = f"{counted(calls, 'call')} of collectives" if calls else ""
    return "; ".join(filter(None, (nccl, ranks, sizes, called, listed)))


def _group(group: ProcessGroup) -> str:
    return f"{group.name} of {'unknown size' if group.size is None else counted(group.size, 'rank')}"


def _device_lines(devices: Sequence[DeviceWork]) -> list[str]:
    if not devices:
        return []
    heads = ("Device", "records", "first begins", "last ends")
    rows = [_device_cells(device) for device in devices[:_ROW_COUNT]]
    more = len(devices) - _ROW_COUNT
    lines = aligned([heads, *rows], WIDTH)
    return [*lines, f"and {counted(more, 'more device')}"] if more > 0 else lines


def _device_cells(device: DeviceWork) -> tuple[str, ...]:
    times = [_NOT_RECORDED if each is None else format_timestamp(each) for each in (device.start_ns, device.end_ns)]
    return (
        f"process {'unknown' if device.pid is None else device.pid}, device {device.device_id}",
        format_count(device.record_count),
        *times,
    )


def _table_lines(contents: Contents) -> list[str]:
    """The tables with rows, largest first; enumerations and tables without rows are only counted."""
    shown = [table for table in contents.tables if table.row_count and not table.name.startswith(_ENUMERATION)]
    shown.sort(key=lambda table: (-(table.row_count or 0), table.name))
    listed = "; ".join(f"{table.name} {format_count(table.row_count or 0)}" for table in shown)
    others = len(contents.tables) - len(shown)
    rest = f"; and {counted(others, 'table')} that are empty, computed or enumerations" if others else ""
    return _wrapped(f"Rows{'' if contents.is_counted else ' by their numbers'}: {listed}{rest}")


def _question_lines(contents: Contents) -> list[str]:
    questions, undecided = contents.open_questions, contents.undecided_questions
    unsure = _wrapped(f"Not looked for everywhere, which --full does: {', '.join(undecided)}.") if undecided else []
    if not questions:
        return unsure or ["Nothing that nsysan asks is missing."]
    entries = [
        line for each in questions for line in _wrapped(f"- {each.question} Record with {each.recapture}.", "  ")
    ]
    return ["Not answered by this report:", *entries, *unsure, _HELP[contents.profiler]]


def _listed(items: Iterable[str]) -> str:
    every = list(items)
    more = len(every) - _ROW_COUNT
    return ", ".join(every[:_ROW_COUNT]) + (f" and {format_count(more)} more" if more > 0 else "")


def _wrapped(paragraph: str, indent: str = "  ") -> list[str]:
    lines = textwrap.wrap(unbroken(visible_text(paragraph)), WIDTH, subsequent_indent=indent, break_on_hyphens=False)
    return [line.replace(NO_BREAK_SPACE, " ") for line in lines]
