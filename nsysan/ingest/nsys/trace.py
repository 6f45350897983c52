"""An export becomes a Trace."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from nsysan.ingest.fingerprint import fingerprint_of
from nsysan.ingest.nsys.identity import read_identity
from nsysan.ingest.nsys.machine import read_cuda_devices, read_gpus
from nsysan.ingest.nsys.names import InlineTexts, Names
from nsysan.ingest.nsys.open_export import open_export
from nsysan.ingest.nsys.records import read_records
from nsysan.ingest.nsys.session import read_session
from nsysan.ingest.nsys.tables import NvtxDomains
from nsysan.ingest.reader import Candidate, ReadOptions
from nsysan.model.trace import PROCESS_BITS, Trace


def read_export(connection: sqlite3.Connection, candidate: Candidate, reader: str, options: ReadOptions) -> Trace:
    """The trace in the export behind ``connection``, named and fingerprinted after what the user gave.

    Raises InputError where the database is no export, sqlite3.Error where it is damaged.
    """
    export = open_export(connection, candidate.shown_name)
    session = read_session(export)
    inline_texts = InlineTexts(connection)
    records = read_records(export, session.time_shift_ns)
    names = Names(export, inline_texts, records.name_ids())
    gpus, cuda_devices = read_gpus(export), read_cuda_devices(export)
    return Trace(
        name=candidate.path.name,
        reader=reader,
        fingerprint=fingerprint_of(candidate.path, hash_content=options.hash_content),
        identity=read_identity(export, candidate.path),
        nsys_version=session.nsys_version,
        export_schema=session.export_schema,
        capture_ns=session.capture_ns,
        session_start_utc_ns=session.start_utc_ns,
        gpus=gpus,
        cuda_devices=cuda_devices,
        strings=names.strings,
        kernels=names.renamed(records.kernels),
        copies=records.copies,
        memsets=records.memsets,
        graph_launches=records.graph_launches,
        nvtx_ranges=names.renamed(records.nvtx_ranges),
        nvtx_domains=_domain_names(names.renamed(records.nvtx_domains), names.strings),
        unreadable_records={table: left_out for table, left_out in export.unreadable_records.items() if left_out},
    )


def _domain_names(domains: NvtxDomains | None, strings: Mapping[int, str]) -> dict[tuple[int, int], str]:
    """The name of each (global pid, domain id)."""
    if domains is None:
        return {}
    processes = domains.global_tid & PROCESS_BITS
    keys = zip(processes.tolist(), domains.domain_id.tolist(), strict=True)
    return {
        key: strings[name_id] for key, name_id in zip(keys, domains.name_id.tolist(), strict=True) if name_id in strings
    }
