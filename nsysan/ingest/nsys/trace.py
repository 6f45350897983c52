"""An export becomes a Trace."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from nsysan.ingest.fingerprint import fingerprint_of
from nsysan.ingest.nsys.folded_work import fold_work
from nsysan.ingest.nsys.identity import read_identity
from nsysan.ingest.nsys.machine import read_cuda_devices, read_gpus, read_sm_limits
from nsysan.ingest.nsys.names import Names
from nsysan.ingest.nsys.network import read_network_adapters, read_network_metrics
from nsysan.ingest.nsys.open_export import OpenExport, open_export
from nsysan.ingest.nsys.processes import runs_mps
from nsysan.ingest.nsys.ranks import read_ranks
from nsysan.ingest.nsys.records import Records, bare, details_of, read_records
from nsysan.ingest.nsys.session import Session, read_session
from nsysan.ingest.nsys.software import read_software
from nsysan.ingest.nsys.tables import NvtxPoints
from nsysan.ingest.reader import Candidate, ReadOptions
from nsysan.ingest.source import Source
from nsysan.model.host_events import NvtxEvent
from nsysan.model.profilers import Profiler
from nsysan.model.tables import NvtxMarks
from nsysan.model.trace import PROCESS_BITS, RankSource, Trace


def read_export(source: Source, candidate: Candidate, reader: str, options: ReadOptions) -> Trace:
    """The trace in the export behind ``source``, named and fingerprinted after what the user gave.

    Raises InputError where it is no export, and what the source raises where it is damaged.
    """
    export = open_export(source, candidate.shown_name)
    session = read_session(export)

    def trace_of(records: Records) -> Trace:
        return _trace(export, session, _From(candidate, reader, options), records)

    if options.fold is not None and not options.with_host and not options.details:
        folded = fold_work(export, session.stated_shift_ns, options, trace_of(Records(None, None, None, None)))
        if folded is not None:
            return folded
    records = read_records(export, with_host=options.with_host, details=options.details)
    return trace_of(_from_session_start(records, session))


class _From(msgspec.Struct, frozen=True):
    """What the user gave, and who reads it how."""

    candidate: Candidate
    reader: str
    options: ReadOptions


def _trace(export: OpenExport, session: Session, of: _From, records: Records) -> Trace:
    names = Names(export, records.name_ids())
    points = names.renamed(records.nvtx_points)
    marks = None if points is None else points.of_type(NvtxEvent.MARK)
    ranks = read_ranks(export)
    return Trace(
        name=of.candidate.path.name,
        reader=of.reader,
        profiler=Profiler.NSYS,
        fingerprint=fingerprint_of(of.candidate.path, hash_content=of.options.hash_content),
        identity=read_identity(export, of.candidate.path),
        nsys_version=session.nsys_version,
        export_schema=session.export_schema,
        capture_ns=session.capture_ns,
        session_start_utc_ns=session.start_utc_ns,
        gpus=read_gpus(export),
        cuda_devices=read_cuda_devices(export),
        strings=names.strings,
        kernels=names.renamed(records.kernels),
        copies=records.copies,
        memsets=records.memsets,
        graph_launches=records.graph_launches,
        runtime_calls=names.renamed(records.runtime_calls),
        synchronizations=records.synchronizations,
        profiler_overheads=names.renamed(records.profiler_overheads),
        os_calls=names.renamed(records.os_calls),
        scheduling_events=records.scheduling_events,
        nvtx_ranges=names.renamed(records.nvtx_ranges),
        nvtx_range_details=names.renamed(records.nvtx_range_details),
        nvtx_marks=bare(marks, NvtxMarks),
        nvtx_mark_details=details_of(marks),
        kernel_shapes=records.kernel_shapes,
        kernel_dimensions=records.kernel_dimensions,
        memory_events=records.memory_events,
        gpu_page_faults=records.gpu_page_faults,
        host_page_faults=records.host_page_faults,
        counter_samples=records.counter_samples,
        network_samples=records.network_samples,
        cpu_samples=names.renamed(records.cpu_samples),
        gpu_switches=records.gpu_switches,
        sm_limits=read_sm_limits(export),
        network_metrics=read_network_metrics(export),
        network_adapters=read_network_adapters(export),
        runs_mps=runs_mps(export),
        nvtx_categories=_category_names(points, names.strings),
        nvtx_domains=_domain_names(points, names.strings),
        nccl_payloads=records.nccl_payloads,
        rank=ranks.rank,
        rank_source=None if ranks.rank is None else RankSource.ENVIRONMENT,
        world_size=ranks.world_size,
        mpi_ranks=ranks.mpi_ranks,
        unreadable_records=export.left_out(),
        ambiguous_name_count=names.ambiguous_count,
        unreadable_work=export.left_out_work(),
        software=read_software(export),
    )


def _from_session_start(records: Records, session: Session) -> Records:
    shift_ns = session.stated_shift_ns
    return records.moved_back(session.likely_shift_ns(records.mostly_start_after) if shift_ns is None else shift_ns)


def _domain_names(points: NvtxPoints | None, strings: Mapping[int, str]) -> dict[tuple[int, int], str]:
    """The name of each (global pid, domain id)."""
    if points is None:
        return {}
    named = points.of_type(NvtxEvent.DOMAIN_CREATE)
    columns = (named.global_tid & PROCESS_BITS, named.domain_id, named.name_id)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(process, domain): strings[name] for process, domain, name in rows if name in strings}


def _category_names(points: NvtxPoints | None, strings: Mapping[int, str]) -> dict[tuple[int, int, int], str]:
    """The name of each (global pid, domain id, category id)."""
    if points is None:
        return {}
    named = points.of_type(NvtxEvent.CATEGORY)
    columns = (named.global_tid & PROCESS_BITS, named.domain_id, named.category_id, named.name_id)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return {(process, domain, category): strings[name] for process, domain, category, name in rows if name in strings}
