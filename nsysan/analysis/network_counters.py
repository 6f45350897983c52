"""What the counters of network adapters showed while the GPUs of their report were at work."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import numpy as np

from nsysan.attribution.job import Job
from nsysan.model.distinct import coded
from nsysan.model.tables import ABSENT, NetworkSamples
from nsysan.model.text import display_text
from nsysan.model.trace import Trace
from nsysan.timeline.ordering import grouped_rows


class NetworkCounter(msgspec.Struct, frozen=True):
    """One counter of one port of an adapter, in the unit that nsys states: ``mean_value`` is weighted by time."""

    report: int
    adapter: str
    port: int | None
    counter: str
    unit: str
    sampled_ns: int
    mean_value: float
    max_value: int


def network_counters(job: Job) -> tuple[NetworkCounter, ...]:
    """The counters of each report from the begin of its first device's window to the end of its last one's."""
    return tuple(
        counter
        for report, threads in enumerate(job.idle.threads)
        for counter in _of_report(job, report, threads.host.trace)
    )


def _of_report(job: Job, report: int, trace: Trace) -> Iterator[NetworkCounter]:
    windows = [device.occupancy.bounds_ns for device in job.devices_of(report)]
    if trace.network_samples is None or not windows:
        return
    start_ns = min(int(bounds_ns[0]) for bounds_ns in windows)
    end_ns = max(int(bounds_ns[-1]) for bounds_ns in windows)
    samples = trace.network_samples
    # one of no length says nothing
    inside = (samples.start_ns < end_ns) & (samples.end_ns > start_ns) & (samples.end_ns > samples.start_ns)
    samples = samples.take(inside)
    for group in _by_counter(samples):
        inside_ns = np.minimum(group.end_ns, end_ns) - np.maximum(group.start_ns, start_ns)
        adapter_id, metric_key = int(group.adapter_id[0]), (int(group.list_id[0]), int(group.metric_id[0]))
        metric = trace.network_metrics.get(metric_key)
        port_id = int(group.port_id[0])
        yield NetworkCounter(
            report=report,
            adapter=display_text(trace.network_adapters.get(adapter_id, f"adapter {adapter_id & 0xFF}")),
            port=None if port_id == ABSENT else port_id,
            counter=f"metric {metric_key[1]}" if metric is None else display_text(metric.name),
            unit="unknown unit" if metric is None else display_text(metric.unit),
            sampled_ns=int(inside_ns.sum()),
            mean_value=float(np.average(group.value, weights=inside_ns)),
            max_value=int(group.value.max()),
        )


def _by_counter(samples: NetworkSamples) -> Iterator[NetworkSamples]:
    """The samples of each counter, adapter and port."""
    if not len(samples):
        return
    places = np.zeros(len(samples), np.int64)
    for column in (samples.adapter_id, samples.port_id, samples.list_id, samples.metric_id):
        values, place = coded(column)
        places = places * len(values) + place
    keys, places = coded(places)
    bounds = np.cumsum(np.bincount(places, minlength=len(keys)))[:-1]
    for rows in np.split(grouped_rows(places, len(keys)), bounds):
        yield samples.take(rows)
