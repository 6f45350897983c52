"""Which kernels took the time: by name and by class, over all GPUs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import ClassVar

import msgspec
from msgspec.structs import replace

from nsysan.analysis.gpu_time import no_gpu_work
from nsysan.analysis.of_reports import OfReport
from nsysan.analysis.registry import Analysis
from nsysan.attribution.duration_groups import DurationGroup, GpuDurations, group_over_gpus
from nsysan.attribution.job import Job
from nsysan.attribution.kernel_class import classify
from nsysan.attribution.missing_work import missing_records
from nsysan.model.figures import Better, Figure, Topic, Unit
from nsysan.model.kernels import Collective, KernelClass
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import display_text, text_hash

ROW_LIMIT = 1000


class KernelRow(msgspec.Struct, frozen=True):
    """The kernels of one demangled name that ran in the windows.

    ``name`` is safe to show and cut; ``name_hash`` tells apart names that are cut alike. ``total_ns`` is clipped to
    the windows; median and p95 (nearest rank) are of the whole kernels. ``work_frac`` = ``total_ns`` over that of all
    kernels: a share of work, not of time.
    """

    name: str
    name_hash: str
    kernel_class: KernelClass
    collective: Collective | None
    count: int
    gpu_count: int
    total_ns: int
    median_ns: float
    p95_ns: int
    work_frac: float | None


class KernelClassRow(msgspec.Struct, frozen=True):
    """The same for all kernels of a class; ``name_count`` names."""

    kernel_class: KernelClass
    name_count: int
    count: int
    total_ns: int
    median_ns: float
    p95_ns: int
    work_frac: float | None


class OmittedKernels(msgspec.Struct, frozen=True):
    """The names beyond the rows of ``kernels``, summed."""

    name_count: int
    count: int
    total_ns: int


class KernelSummary(msgspec.Struct, frozen=True):
    """Kernels by name and by class, most time first."""

    id: ClassVar[str] = "kernel_summary"

    kernels: tuple[KernelRow, ...]
    kernels_omitted: OmittedKernels
    kernel_classes: tuple[KernelClassRow, ...]

    def figures(self) -> Iterator[Figure]:
        """How long each kernel takes and how often it ran, by the hash of its name."""
        for row in self.kernels:
            yield Figure(KERNEL_MEDIANS, row.name_hash, row.name, row.median_ns, Unit.NS, Better.LESS)
        for row in self.kernels:
            yield Figure(KERNEL_RUNS, row.name_hash, row.name, row.count, Unit.COUNT)


KERNEL_MEDIANS = Topic("kernel_medians", "Median duration of each kernel")
KERNEL_RUNS = Topic("kernel_runs", "Runs of each kernel in the windows")


def compute_kernel_summary(job: Job, _results: ResultSet) -> KernelSummary | Skipped:
    """The kernels of the job's windows; skipped where kernels were not recorded one by one, or cannot be used."""
    if not job.gpus:
        return no_gpu_work(KernelSummary.id, job)
    if all(trace.kernels is None for trace in job.traces):
        if any(trace.graph_launches for trace in job.traces):
            reason, recapture = "CUDA graphs were recorded whole, without their kernels", "--cuda-graph-trace=node"
            return Skipped(KernelSummary.id, reason, f"Record with {recapture}.")
        if any(trace.unreadable_records for trace in job.traces):
            return Skipped(KernelSummary.id, "no record of a kernel can be used; the notes say why", None)
    missing = missing_records(job).get("kernels")
    if missing is not None and not missing.usable_count:
        return Skipped(KernelSummary.id, missing.described("kernel"), None)
    gpus = [replace(found, gpu_row=row) for row, gpu in enumerate(job.gpus) for found in job.sums.kernels_of(gpu)]
    names = job.sums.kernel_names
    work_ns = sum(int(gpu.totals_ns.sum()) for gpu in gpus)
    groups = sorted(group_over_gpus(gpus), key=lambda group: (-group.total_ns, names[group.key]))
    rows, rest = groups[:ROW_LIMIT], groups[ROW_LIMIT:]
    omitted = OmittedKernels(len(rest), sum(group.count for group in rest), sum(group.total_ns for group in rest))
    return KernelSummary(
        kernels=tuple(_row(group, names[group.key], work_ns) for group in rows),
        kernels_omitted=omitted,
        kernel_classes=_class_rows(gpus, names, work_ns),
    )


def merge_kernel_summary(job: Job, results: ResultSet, _parts: Sequence[OfReport]) -> KernelSummary | Skipped:
    """The kernels of all reports, of which the job's sums tell."""
    return compute_kernel_summary(job, results)


ANALYSIS = Analysis(
    KernelSummary, compute_kernel_summary, of_host=False, of_sums=True, merge=merge_kernel_summary, also="kernels"
)


def _row(group: DurationGroup, name: str, work_ns: int) -> KernelRow:
    kind = classify(name)
    return KernelRow(
        name=display_text(name),
        name_hash=text_hash(name),
        kernel_class=kind.kernel_class,
        collective=kind.collective,
        count=group.count,
        gpu_count=group.gpu_count,
        total_ns=group.total_ns,
        median_ns=group.median_ns,
        p95_ns=group.p95_ns,
        work_frac=group.total_ns / work_ns if work_ns else None,
    )


def _class_rows(gpus: Sequence[GpuDurations], names: Sequence[str], work_ns: int) -> tuple[KernelClassRow, ...]:
    classes = list(KernelClass)
    class_of_name = {key: classes.index(classify(name).kernel_class) for key, name in enumerate(names)}
    used = {key for gpu in gpus for key in gpu.keys.tolist()}
    name_counts = Counter(class_of_name[key] for key in used)
    groups = group_over_gpus(gpus, class_of_name)
    rows = (
        KernelClassRow(
            kernel_class=classes[group.key],
            name_count=name_counts[group.key],
            count=group.count,
            total_ns=group.total_ns,
            median_ns=group.median_ns,
            p95_ns=group.p95_ns,
            work_frac=group.total_ns / work_ns if work_ns else None,
        )
        for group in groups
    )
    return tuple(sorted(rows, key=lambda row: (-row.total_ns, row.kernel_class.value)))
