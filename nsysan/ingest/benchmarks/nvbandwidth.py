"""nvbandwidth: copies over links, matrix by matrix.

Its copies inside a GPU are no ceiling of the memory, for the copy engine is slower than kernels are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from nsysan import __version__
from nsysan.ingest.benchmarks.gpu_told import gpu_told
from nsysan.ingest.benchmarks.importer import Importer
from nsysan.model.ceilings import (
    SCHEMA_VERSION,
    Ceilings,
    Direction,
    HostMemory,
    LinkCeiling,
    MeasuredGpu,
    Origin,
    Waived,
)

_TOOL = "nvbandwidth"
_VERSION = re.compile(r"^nvbandwidth Version: (\S+)", re.MULTILINE)
_DRIVER = re.compile(r"^Driver Version: (\S+)", re.MULTILINE)
_DEVICE = re.compile(r"^Device (\d+): (.+?)(?: \(([0-9a-fA-F:.]+)\))?\s*$", re.MULTILINE)
_TEST = re.compile(r"^Running (\w+)\.$")
_ROW = re.compile(r"^\s*(\d+)((?:\s+(?:N/A|\d+(?:\.\d+)?))+)\s*$")
_DEFAULT_BYTES = 512 << 20
_GIGA = 1e9
_DIRECTIONS = {
    "host_to_device_memcpy_ce": Direction.HOST_TO_DEVICE,
    "device_to_host_memcpy_ce": Direction.DEVICE_TO_HOST,
    "device_to_device_memcpy_read_ce": Direction.PEER_TO_PEER,
    "device_to_device_memcpy_write_ce": Direction.PEER_TO_PEER,
}
"""The tests whose copies are those of a program: by a copy engine, one at a time."""


class _Cell(msgspec.Struct, frozen=True):
    """One rate of a matrix."""

    test: str
    row: int
    column: int
    bytes_per_s: float


def read(text: str, gpu: str | None) -> Ceilings | None:
    """The ceilings in what nvbandwidth printed; None where this is something else."""
    version = _VERSION.search(text)
    if version is None:
        return None
    devices = _DEVICE.findall(text)
    driver = _DRIVER.search(text)
    cells = list(_cells(text))
    name = gpu_told(devices[0][1] if devices else None, gpu, _TOOL)
    return Ceilings(
        schema_version=SCHEMA_VERSION,
        nsysan_version=__version__,
        origin=Origin.IMPORTED,
        source=f"{_TOOL} {version[1]}",
        created_utc=None,
        driver_version=None if driver is None else driver[1],
        gpus=tuple(MeasuredGpu(of, None, None, bus_id=bus or None) for _, of, bus in devices)
        or (MeasuredGpu(name, None, None),),
        links=tuple(_links(cells)),
        waived=tuple(
            Waived(test, "not taken over: it is no copy of the kind that programs make")
            for test in dict.fromkeys(cell.test for cell in cells)
            if test not in _DIRECTIONS
        ),
        warnings=("nvbandwidth does not print the size of its copies: 512 MiB, its default, is taken.",),
    )


IMPORTER = Importer(_TOOL, read)


def _links(cells: list[_Cell]) -> Iterator[LinkCeiling]:
    """A link each; of reading and writing a peer the faster counts."""
    fastest: dict[tuple[Direction, int, int | None], float] = {}
    for cell in cells:
        direction = _DIRECTIONS.get(cell.test)
        if direction is not None and cell.bytes_per_s > 0:
            is_peer = direction is Direction.PEER_TO_PEER
            key = (direction, cell.row, cell.column) if is_peer else (direction, cell.column, None)
            fastest[key] = max(cell.bytes_per_s, fastest.get(key, 0.0))
    for (direction, gpu, peer), rate in fastest.items():
        yield LinkCeiling(
            direction=direction,
            host_memory=HostMemory.PINNED if peer is None else None,
            gpu=gpu,
            peer=peer,
            size_bytes=_DEFAULT_BYTES,
            bytes_per_s=rate,
        )


def _cells(text: str) -> Iterator[_Cell]:
    test = None
    for line in text.splitlines():
        if begun := _TEST.match(line):
            test = begun[1]
        elif test is not None and (row := _ROW.match(line)):
            # the line above a matrix holds only the numbers of its columns, and has no decimals
            values = row[2].split()
            if any("." in value for value in values):
                yield from (
                    _Cell(test, int(row[1]), column, float(value) * _GIGA)
                    for column, value in enumerate(values)
                    if value != "N/A"
                )
