"""The sampled counters of GPUs: rows of numbers in newer exports, JSON among other events before 2023."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np

from nsysan.ingest.columns import Scope
from nsysan.ingest.nsys import tables
from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.stored_records import read_table
from nsysan.ingest.source import known_text, text
from nsysan.model.arrays import IdArray, Int64Array
from nsysan.model.counters import COUNTERS, counter_of
from nsysan.model.distinct import NOWHERE, Distinct
from nsysan.model.tables import CounterSamples

_GPU_BITS = 0xFF
"""The part of a metric's type that is the id of its GPU."""
_METRIC_SHIFT = 8
"""Types repeat in their low byte what metrics have in all of theirs: the two make one number."""


def read_counters(export: OpenExport) -> CounterSamples | None:
    """The samples of all counters that have a meaning here, None where none were taken."""
    found = _from_rows(export)
    return _from_json(export) if found is None else found


def _from_rows(export: OpenExport) -> CounterSamples | None:
    counters = _counters_by_metric(export)
    if not counters:
        return None
    wanted = Scope("metricId", tuple(sorted({metric_id for _, metric_id in counters})))
    stored = read_table(export, tables.COUNTER_SAMPLES, wanted)
    if stored is None or not len(stored):
        return None
    gpu_id = (stored.type_id.astype(np.int64, copy=False) & _GPU_BITS).astype(np.int16)
    counter = _looked_up(gpu_id, stored.metric_id, counters)
    found = CounterSamples(stored.start_ns, gpu_id, counter, stored.metric_id, stored.value)
    return found if (counter != NOWHERE).all() else found.take(counter != NOWHERE)


def _counters_by_metric(export: OpenExport) -> dict[tuple[int, int], int]:
    """The place of the counter of each (GPU, metric) that has one."""
    places = {}
    for type_id, metric_id, name in export.rows(tables.COUNTER_NAMES, "typeId", "metricId", "metricName"):
        counter = counter_of(known_text(name) or "")
        if isinstance(type_id, int) and isinstance(metric_id, int) and counter is not None:
            places[type_id & _GPU_BITS, metric_id] = COUNTERS.index(counter)
    return places


def _looked_up(gpu_id: IdArray, metric_id: IdArray, counters: dict[tuple[int, int], int]) -> Int64Array:
    pairs = sorted((metric << _METRIC_SHIFT | gpu, place) for (gpu, metric), place in counters.items())
    keys, places = np.array(pairs, np.int64).T
    known = Distinct.of(keys)
    found = known.places(metric_id.astype(np.int64) << _METRIC_SHIFT | gpu_id)
    return np.where(found == NOWHERE, NOWHERE, places[np.maximum(found, 0)]).astype(np.int8)


def _from_json(export: OpenExport) -> CounterSamples | None:
    rows = np.fromiter(chain.from_iterable(_json_rows(export)), np.int64).reshape(-1, 5)
    return CounterSamples(*rows.T.copy()) if len(rows) else None


def _json_rows(export: OpenExport) -> Iterator[tuple[int, int, int, int, int]]:
    """Time, GPU, counter, metric and value; metrics are numbered as they are met, events of another kind have none."""
    import msgspec

    decoder = msgspec.json.Decoder()
    metric_ids: dict[str, int] = {}
    for time_ns, type_id, data in export.rows(tables.GENERIC_EVENTS, "timestamp", "typeId", "data"):
        if not (isinstance(time_ns, int) and isinstance(type_id, int)):
            continue
        try:
            members = decoder.decode(text(data) or "")
        except msgspec.DecodeError:
            continue
        for name, value in members.items() if isinstance(members, dict) else ():
            counter, number = counter_of(name), _whole(value)
            if counter is not None and number is not None:
                metric_id = metric_ids.setdefault(name, len(metric_ids))
                yield time_ns, type_id & _GPU_BITS, COUNTERS.index(counter), metric_id, number


def _whole(value: object) -> int | None:
    """The whole number in a member, which nsys writes as text."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:18])
    return value if type(value) is int else None
