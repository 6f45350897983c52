"""Which samples of counters are of which GPU: a report may hold those of all GPUs of its machine."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan.attribution.devices import Gpu
from nsysan.attribution.job import Job
from nsysan.model.distinct import distinct
from nsysan.model.tables import CounterSamples


def counters_of(job: Job, gpu: Gpu) -> tuple[int, CounterSamples] | None:
    """The report that sampled the GPU and its samples, None where none did, or it is not known which GPU it is."""
    machine_id = gpu.identity.machine_id
    for report in _reports_of_machine(job, gpu) if machine_id is not None else ():
        samples = job.idle.threads[report].host.trace.counter_samples
        found = None if samples is None else samples.take(samples.gpu_id == machine_id)
        if found is not None and len(found):
            return report, found
    return None


def counters_of_nobody(job: Job) -> Iterator[tuple[int, int, CounterSamples]]:
    """Report, the machine's id and the samples of GPUs in reports that do not tell which GPU each process used."""
    for report in sorted({gpu.devices[0].report for gpu in job.gpus if gpu.identity.machine_id is None}):
        samples = job.idle.threads[report].host.trace.counter_samples
        if samples is not None:
            for machine_id in distinct(samples.gpu_id).tolist():
                yield report, machine_id, samples.take(samples.gpu_id == machine_id)


def _reports_of_machine(job: Job, gpu: Gpu) -> list[int]:
    """The GPU's own reports first, then others that are known to be of its machine."""
    own = list(dict.fromkeys(device.report for device in gpu.devices))
    host = job.traces[own[0]].identity.host
    others = [
        report
        for report, trace in enumerate(job.traces)
        if host is not None and trace.identity.host == host and report not in own
    ]
    return [*own, *others]
