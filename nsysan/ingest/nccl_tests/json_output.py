"""The JSON that nccl-tests writes with ``-J``. The environment in it is not kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from nsysan.ingest.nccl_tests.identity import kind_by_ratio, kind_in, version_of
from nsysan.ingest.nccl_tests.table import refuse_wrong
from nsysan.model.errors import InputError
from nsysan.model.nccl_tests import NcclTest, NcclTestRow
from nsysan.model.text import display_text
from nsysan.model.units import NS_PER_US

LARGEST_BYTES = 256 << 20


_Figure = Annotated[float, msgspec.Meta(ge=0)]


class _Times(msgspec.Struct):
    alg_bw: _Figure
    bus_bw: _Figure
    time: _Figure | None = None
    cpu_time: _Figure | None = None
    nwrong: _Figure | None = None


class _Result(msgspec.Struct):
    size: int
    count: int
    type: str
    redop: str = "none"
    root: str = "-1"
    out_of_place: _Times | None = None
    in_place: _Times | None = None


class _Device(msgspec.Struct):
    rank: int
    hostname: str
    pid: int | None = None
    device_info: str = ""


class _Config(msgspec.Struct):
    devices: tuple[_Device, ...] = ()
    nthreads: int = 1
    ngpus: int = 1


class _Check(msgspec.Struct):
    count: int


class _Average(msgspec.Struct):
    bandwidth: float


class _Document(msgspec.Struct):
    results: tuple[_Result, ...] = ()
    config: _Config | None = None
    args: tuple[str, ...] = ()
    nccl_version: int = 0
    out_of_bounds: _Check | None = None
    average_bus_bandwidth: _Average | None = None


def read_json(path: Path, name: str) -> NcclTest:
    """The test whose JSON lies at ``path``. Raises InputError where it failed, did not finish or is something else."""
    if path.stat().st_size > LARGEST_BYTES:
        raise InputError(f"{display_text(name)} is too large for JSON of nccl-tests.", "Give the file that -J wrote.")
    try:
        document = msgspec.json.decode(path.read_bytes(), type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"{display_text(name)} is no whole JSON of nccl-tests: {display_text(str(error))}.",
            "Run the test again and let it finish.",
        ) from error
    if document.out_of_bounds is None or not document.results:
        raise InputError(
            f"{display_text(name)} is of a test of nccl-tests that did not finish: it holds no check of results.",
            "Run the test again and let it finish.",
        )
    rows = tuple(row for result in document.results for row in _rows(result))
    refuse_wrong(document.out_of_bounds.count, rows, name)
    return _test(document, rows, name)


def _rows(result: _Result) -> Iterator[NcclTestRow]:
    root = int(result.root) if result.root.strip().lstrip("-").isdigit() else -1
    for times, in_place in ((result.out_of_place, False), (result.in_place, True)):
        time_us = None if times is None else (times.time if times.cpu_time is None else times.cpu_time)
        if times is not None and time_us is not None:
            yield NcclTestRow(
                size_bytes=result.size,
                element_count=result.count,
                dtype=result.type,
                reduction=None if result.redop == "none" else result.redop,
                root=None if root < 0 else root,
                in_place=in_place,
                time_ns=time_us * NS_PER_US,
                algbw_bytes_per_s=times.alg_bw * 1e9,
                busbw_bytes_per_s=times.bus_bw * 1e9,
                wrong_count=None if times.nwrong is None else round(times.nwrong),
            )


def _test(document: _Document, rows: tuple[NcclTestRow, ...], name: str) -> NcclTest:
    devices = () if document.config is None else document.config.devices
    rank_count = len(devices) or None
    named = kind_in(document.args[0]) if document.args else None
    inferred = None if named is not None else kind_by_ratio(rows, rank_count)
    average = document.average_bus_bandwidth
    return NcclTest(
        name=name,
        kind=named or inferred,
        kind_is_inferred=inferred is not None,
        nccl_version=version_of(document.nccl_version),
        rank_count=rank_count,
        node_count=len({device.hostname for device in devices}) or None,
        process_count=_process_count(devices),
        gpu_names=tuple(dict.fromkeys(device.device_info for device in devices if device.device_info)),
        is_cpu_time=any(times is not None and times.cpu_time is not None for times in _all_times(document)),
        rows=rows,
        average_busbw_bytes_per_s=None if average is None else average.bandwidth * 1e9,
    )


def _process_count(devices: Sequence[_Device]) -> int | None:
    """None where a device does not tell its process."""
    processes = {(device.hostname, device.pid) for device in devices}
    return None if not processes or any(pid is None for _, pid in processes) else len(processes)


def _all_times(document: _Document) -> Iterator[_Times | None]:
    for result in document.results:
        yield from (result.out_of_place, result.in_place)


def looks_like_json_output(sample: bytes) -> bool:
    """Whether a file that begins so is the JSON of nccl-tests."""
    return sample.lstrip().startswith(b"{") and b'"nccl_version"' in sample and b'"args"' in sample
