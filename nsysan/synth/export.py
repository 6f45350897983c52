"""An Nsight Systems SQLite export written by hand, record by record."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Literal

import msgspec
from msgspec.structs import astuple

from nsysan.model.trace import SmLimits
from nsysan.synth.repetition import NOT_REPEATED, Repetition
from nsysan.synth.simulation.payload import REDUCTION_BYTES, REDUCTION_ENUM_ID, REDUCTIONS, PayloadSchema
from nsysan.synth.tables import schema
from nsysan.synth.tables.database import Row, write_database
from nsysan.synth.tables.gpu_records import GpuRecords
from nsysan.synth.tables.host_records import HostRecords
from nsysan.synth.tables.metadata import Capture
from nsysan.synth.tables.repeated_rows import repeating_statements
from nsysan.synth.tables.sampled_records import SampledRecords

HOPPER = SmLimits(9, 32, 64, 32, 65_536, 233_472)
"""What a multiprocessor of an H100 holds."""


class KernelShape(msgspec.Struct, frozen=True):
    """What a kernel asks for: registers a thread, threads a block, its static and dynamic memory, blocks."""

    register_count: int = 32
    block: tuple[int, int, int] = (128, 1, 1)
    shared_bytes: tuple[int, int] = (0, 0)
    grid: tuple[int, int, int] = (1, 1, 1)


PLAIN_SHAPE = KernelShape()
_BUFFER_FLUSH = 3
_DOMAIN_CREATE = 75


class Export(HostRecords, GpuRecords, SampledRecords):
    """Records of one report, in nanoseconds from session start, and the file that nsys would export them to.

    Every method that adds a record answers the export itself. A ``correlation`` of None takes the next id that the
    process has not used. ``schema`` is "3.7" (nsys 2023.4) or "3.25" (nsys 2026.2); anything else is a ValueError,
    as is a record that the schema has no table for.
    """

    def __init__(self, schema: str = "3.25") -> None:
        super().__init__(schema)
        self._capture = Capture()
        self._repetition = NOT_REPEATED
        self._statements: list[str] = []

    def host(self, name: str) -> Export:
        """The machine's host name."""
        self._capture.host = name
        return self

    def session(self, utc_epoch_ns: int | None = None, duration_ns: int | Literal["absent"] | None = None) -> Export:
        """When the session began, and how long it took: None ends it 1 ms after the last event."""
        if utc_epoch_ns is not None:
            self._capture.utc_epoch_ns = utc_epoch_ns
        self._capture.duration_ns = duration_ns
        return self

    def environment(self, name: str, value: str) -> Export:
        """An environment variable of the launched process."""
        self._capture.environment.append((name, value))
        return self

    def captured(self, *event_types: str, **settings: str) -> Export:
        """What was asked of the capture: its event types, by nsys' names, and other settings."""
        self._capture.event_types = event_types
        self._capture.settings = list(settings.items())
        return self

    def repeat(self, repetition: Repetition) -> Export:
        """Let the file hold the records several times in a row, as copies that SQLite makes when it is written."""
        self._repetition = repetition
        return self

    def gpu(  # noqa: PLR0913 -- a GPU's properties, each by name
        self,
        gpu_id: int = 0,
        name: str | None = "NVIDIA H100 80GB HBM3",
        *,
        uuid: str | None = None,
        sm_count: int | None = 132,
        memory_bytes: int | None = 85_028_765_696,
        memory_bandwidth_bytes_per_s: int | None = 3_352_320_000_000,
        bus_location: str | None = None,
        sm: SmLimits | None = HOPPER,
    ) -> Export:
        """A GPU of the machine; ``sm`` None: what its multiprocessors hold is not told."""
        speed = (memory_bytes, memory_bandwidth_bytes_per_s, sm_count)
        limits = (None,) * len(SmLimits.__struct_fields__) if sm is None else astuple(sm)
        self._rows[schema.GPU].append((gpu_id, name, bus_location, *speed, uuid, gpu_id, gpu_id, *limits))
        return self

    def cuda_device(
        self,
        *,
        pid: int = 100,
        device_id: int = 0,
        gpu_id: int | None = 0,
        uuid: str | None = None,
        sm_count: int | None = 132,
    ) -> Export:
        """Which GPU process ``pid`` sees as CUDA device ``device_id`` (schema 3.25)."""
        self._append(schema.CUDA_DEVICE, (gpu_id, device_id, pid, uuid, sm_count))
        return self

    def kernel(  # noqa: PLR0913 -- a kernel's place, each by name
        self,
        start_ns: int,
        end_ns: int,
        name: str,
        *,
        pid: int = 100,
        device: int = 0,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
        short_name: str | None = None,
        shape: KernelShape = PLAIN_SHAPE,
    ) -> Export:
        """A kernel; its short name follows from ``name`` unless given."""
        where = self._place(pid, device, context, stream, correlation)
        short_id = self._short_name_id(name) if short_name is None else self._string_id(short_name)
        row = (start_ns, end_ns, *where, self._string_id(name), short_id)
        self._rows[schema.KERNEL].append((*row, shape.register_count, *shape.block, *shape.shared_bytes, *shape.grid))
        return self

    def copy(  # noqa: PLR0913 -- a copy's place and ends, each by name
        self,
        start_ns: int,
        end_ns: int,
        size_bytes: int,
        *,
        kind: int = 1,
        src_memory: int | None = 1,
        dst_memory: int | None = 2,
        src_device: int | None = None,
        dst_device: int | None = None,
        pid: int = 100,
        device: int = 0,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
    ) -> Export:
        """A memory copy; ``kind`` is a ``CopyKind``, the memories are of ``MemoryKind``."""
        where = self._place(pid, device, context, stream, correlation)
        ends = (kind, src_memory, dst_memory, src_device, dst_device)
        self._rows[schema.MEMCPY].append((start_ns, end_ns, *where, size_bytes, *ends))
        return self

    def memset(  # noqa: PLR0913 -- a fill's place, each by name
        self,
        start_ns: int,
        end_ns: int,
        size_bytes: int,
        *,
        pid: int = 100,
        device: int = 0,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
    ) -> Export:
        """A memory fill."""
        where = self._place(pid, device, context, stream, correlation)
        self._rows[schema.MEMSET].append((start_ns, end_ns, *where, size_bytes))
        return self

    def graph(  # noqa: PLR0913 -- a graph's place, each by name
        self,
        start_ns: int,
        end_ns: int,
        graph_id: int = 1,
        *,
        pid: int = 100,
        device: int = 0,
        stream: int = 7,
        context: int = 1,
        correlation: int | None = None,
    ) -> Export:
        """A CUDA graph recorded as one block (schema 3.25)."""
        where = self._place(pid, device, context, stream, correlation)
        self._append(schema.GRAPH_TRACE, (start_ns, end_ns, *where, graph_id, graph_id))
        return self

    def call(  # noqa: PLR0913 -- a call's place, each by name
        self,
        start_ns: int,
        end_ns: int,
        name: str,
        *,
        pid: int = 100,
        tid: int | None = None,
        correlation: int = 0,
        event_class: int = 0,
    ) -> Export:
        """A CUDA call on thread ``tid`` (None: the process' first); ``event_class`` 0 is the runtime, 1 the driver."""
        row = (start_ns, end_ns, event_class, self._thread(pid, tid), correlation, self._string_id(name))
        self._rows[schema.RUNTIME].append(row)
        return self

    def nvtx(  # noqa: PLR0913 -- a range's place, each by name
        self,
        start_ns: int,
        end_ns: int | None,
        text: str,
        *,
        pid: int = 100,
        tid: int | None = None,
        domain: int = 0,
        registered: bool = False,
        event_type: int = 59,
        payload: bytes | None = None,
    ) -> Export:
        """An NVTX event; a ``registered`` text is stored as a string id, as nvtxDomainRegisterString makes nsys do.

        ``payload`` is a binary one (schema 3.25), as ``Payload.blob`` makes it.
        """
        if payload is not None and not self.release.is_new:
            raise ValueError(f"schema {self.release.schema} has no payloads")
        self._capture.includes_blobs |= payload is not None
        inline, text_id = (None, self._string_id(text)) if registered else (text, None)
        row = (start_ns, end_ns, event_type, inline, self._thread(pid, tid), text_id, domain, None, None, None)
        return self._add_nvtx(row, payload)

    def payload_schema(self, described: PayloadSchema, *, domain: int) -> Export:
        """How the payloads of one structure are laid out, as a process registered it (schema 3.25)."""
        entries = described.entries
        self._append(schema.PAYLOAD_SCHEMAS, (domain, described.id, len(entries), described.layout.size))
        for index, ((kind, name), offset) in enumerate(zip(entries, described.offsets, strict=True)):
            self._append(schema.PAYLOAD_ENTRIES, (domain, described.id, index, kind, name, offset or None))
        return self

    def payload_reductions(self, *, domain: int) -> Export:
        """What the numbers of reduction operations mean, likewise."""
        counted = (len(REDUCTIONS), REDUCTION_BYTES)
        self._append(schema.PAYLOAD_ENUMS, (domain, REDUCTION_ENUM_ID, *counted))
        for index, (name, value) in enumerate(REDUCTIONS.items()):
            self._append(schema.PAYLOAD_ENUM_ENTRIES, (domain, REDUCTION_ENUM_ID, index, name, value))
        return self

    def nvtx_domain(self, domain_id: int, name: str, *, pid: int = 100) -> Export:
        """The name of an NVTX domain of process ``pid``."""
        return self.nvtx(0, None, name, pid=pid, domain=domain_id, event_type=_DOMAIN_CREATE)

    def overhead(  # noqa: PLR0913 -- an overhead's place, each by name
        self,
        start_ns: int,
        end_ns: int,
        name: str,
        *,
        pid: int = 100,
        tid: int | None = None,
        overhead_type: int | None = None,
    ) -> Export:
        """Time the profiler took for itself; schema 3.7 keeps only its name, 3.25 its type (None: buffer flush)."""
        last = (_BUFFER_FLUSH if overhead_type is None else overhead_type) if self.release.is_new else 0
        row = (start_ns, end_ns, self._thread(pid, tid), self._string_id(name), last)
        self._rows[schema.PROFILER_OVERHEAD].append(row)
        return self

    def sql(self, statement: str) -> Export:
        """A statement to run on the finished file, for reports that nsys would not write."""
        self._statements.append(statement)
        return self

    def write(self, path: str | Path, *, shuffle_seed: int | None = None) -> Path:
        """Write the export straight to ``path``, which is replaced, and answer it.

        Like nsys, a data table is made only where there are rows. ``shuffle_seed`` puts the records of every table in
        an order that it determines: nsys promises none.
        """
        tables = {table: list(rows) for table, rows in self._rows.items()}
        if shuffle_seed is not None:
            for rows in tables.values():
                random.Random(shuffle_seed).shuffle(rows)  # noqa: S311 -- an order, no secret
        last_event_ns = self._last_event_ns() + self._repetition.last_delay_ns
        tables |= self._derived_tables() | self._capture.tables(self.release, last_event_ns)
        strings: list[Row] = [(string_id, text) for text, string_id in self._string_ids.items()]
        present = {table: rows for table, rows in tables.items() if rows or table in schema.ALWAYS_THERE}
        copies = repeating_statements(self._repetition, self.release, present)
        write_database(Path(path), self.release, {schema.STRINGS: strings, **present}, copies, self._statements)
        return Path(path)
