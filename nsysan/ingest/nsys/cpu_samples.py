"""Where threads were found on their cores, with the function at the top of each stack."""

from __future__ import annotations

import numpy as np

from nsysan.ingest.nsys import tables
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.stored_records import read_table
from nsysan.model.arrays import IdArray
from nsysan.model.distinct import NOWHERE, Distinct
from nsysan.model.tables import ABSENT, CpuSamples


def read_cpu_samples(export: OpenExport) -> CpuSamples | None:
    """The periodic samples, None where none were taken; a sample without a stack has no function."""
    samples = read_table(export, tables.THREAD_SAMPLES)
    if samples is None or not len(samples):
        return None
    return CpuSamples(samples.start_ns, samples.global_tid, _functions(export, samples.sample_id))


def _functions(export: OpenExport, sample_ids: IdArray) -> IdArray:
    tops = read_table(export, tables.STACK_TOPS)
    if tops is None or not len(tops):
        return np.full(len(sample_ids), ABSENT)
    known = Distinct.of(tops.sample_id)
    name_ids = np.full(len(known), ABSENT)
    name_ids[known.places(tops.sample_id)] = tops.name_id
    places = known.places(sample_ids)
    return np.where(places == NOWHERE, ABSENT, name_ids[np.maximum(places, 0)])
