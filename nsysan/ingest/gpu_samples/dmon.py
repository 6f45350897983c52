"""Tables of ``nvidia-smi dmon`` and ``dcgmi dmon``, whose headings come again and may name other columns."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from nsysan.ingest.gpu_samples.fields import DCGM, NVIDIA_SMI, Field, value_of
from nsysan.ingest.gpu_samples.recording import Entity, Recording
from nsysan.model.gpu_samples import GpuSamples, Monitor, Sampled
from nsysan.model.units import NS_PER_S

LONGEST_LINE_BYTES = 1 << 12
_HEADING = re.compile(r"# {0,4}(?P<words>(?:(?:Date|Time|gpu|Entity)\b[, ]{1,40}){1,3}[A-Za-z0-9_, ]{2,1000})$")
_ENTITY = re.compile(r"(?:^|\s)(?P<kind>GPU(?:-C?I)?|CPU|SWITCH) (?P<number>[0-9]{1,6})\b(?P<rest>.*)$")
_WHOLE, _INSTANCE = "GPU", "GPU-I"


class _Layout(msgspec.Struct, frozen=True):
    monitor: Monitor
    columns: tuple[str, ...]

    @classmethod
    def of(cls, line: str) -> _Layout | None:
        found = _HEADING.match(line.strip())
        if found is None:
            return None
        words = tuple(found["words"].replace(",", " ").split())
        if words[0] == "Entity":
            return cls(Monitor.DCGMI, words[1:]) if DCGM.keys() & set(words) else None
        return cls(Monitor.NVIDIA_SMI, words) if NVIDIA_SMI.keys() & set(words) and "gpu" in words else None


def tells_of_samples(sample: bytes, monitor: Monitor) -> bool:
    """Whether bytes of a file hold a heading of that monitor."""
    layouts = (_Layout.of(line) for line in _lines(io.BytesIO(sample)) if line.lstrip().startswith("#"))
    return any(layout is not None and layout.monitor is monitor for layout in layouts)


def read_dmon(path: Path, name: str, monitor: Monitor) -> tuple[GpuSamples, ...]:
    """The recordings of that monitor in a file. Raises OSError where it cannot be read."""
    with path.open("rb") as file:
        recordings = list(_recordings(_lines(file), monitor))
    return tuple(found for recording in recordings if (found := recording.result(name)) is not None)


def _lines(file: io.BufferedIOBase) -> Iterator[str]:
    for piece in iter(lambda: file.readline(LONGEST_LINE_BYTES), b""):
        yield piece.decode("utf-8", "replace").rstrip()


def _recordings(lines: Iterable[str], monitor: Monitor) -> Iterator[Recording]:
    layout: _Layout | None = None
    recording: Recording | None = None
    for number, line in enumerate(lines, start=1):
        if line.lstrip().startswith("#"):
            found = _Layout.of(line)
            if found is not None and found != layout:
                layout, recording = found, Recording(found.monitor, number)
                if found.monitor is monitor:
                    yield recording
        elif recording is not None and layout is not None and line and layout.monitor is monitor:
            _take(recording, layout, line)


def _take(recording: Recording, layout: _Layout, line: str) -> None:
    if layout.monitor is Monitor.DCGMI:
        _take_dcgmi(recording, layout.columns, line)
    else:
        _take_nvidia_smi(recording, layout.columns, line)


def _take_dcgmi(recording: Recording, columns: Sequence[str], line: str) -> None:
    found = _ENTITY.search(line)
    words = [] if found is None else found["rest"].split()
    if found is None or len(words) != len(columns):
        recording.malformed_count += line.strip().lower() != "id"
    elif found["kind"] in {_WHOLE, _INSTANCE}:
        number = int(found["number"])
        entity = Entity(number) if found["kind"] == _WHOLE else Entity(None, instance=number)
        recording.take(entity, _values(DCGM, columns, words), None)


def _take_nvidia_smi(recording: Recording, columns: Sequence[str], line: str) -> None:
    words = line.replace(",", " ").split()
    told = dict(zip(columns, words, strict=True)) if len(words) == len(columns) else {}
    if not told.get("gpu", "").isdecimal():
        recording.malformed_count += 1
        return
    recording.take(Entity(int(told["gpu"])), _values(NVIDIA_SMI, columns, words), _wall_ns(told))


def _values(fields: Mapping[str, Field], columns: Sequence[str], words: Sequence[str]) -> dict[Sampled, float]:
    told = zip(columns, words, strict=True)
    return {fields[name].sampled: value_of(fields[name], word) for name, word in told if name in fields}


def _wall_ns(told: Mapping[str, str]) -> int | None:
    """The time of day, from any moment on; None without a date, as it may pass midnight."""
    try:
        moment = datetime.strptime(f"{told['Date']} {told['Time']} +0000", "%Y%m%d %H:%M:%S %z")
    except (KeyError, ValueError):
        return None
    return int(moment.timestamp()) * NS_PER_S
