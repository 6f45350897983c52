"""What is kept of a run to hold it against others: its figures, conditions, findings and open questions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from nsysan.model.figures import Bearing, Beside, Condition, Conditioned, Figure, Measured
from nsysan.model.findings import Finding
from nsysan.model.recorded import RECORD_KINDS
from nsysan.model.results import Result, Skipped
from nsysan.model.run import Run
from nsysan.model.verdicts import Severity

_SOFTWARE = {
    "driver": "NVIDIA driver",
    "driver_cuda": "CUDA of the driver",
    "runtime_cuda": "CUDA runtime",
    "nccl": "NCCL of the trace",
}


class KeptFinding(msgspec.Struct, frozen=True):
    """A finding without its evidence; ``id`` and ``cause`` name it in every run, ``sources`` the results it is from."""

    id: str
    cause: str | None
    severity: Severity
    title: str
    sources: tuple[str, ...] = ()


class Snapshot(msgspec.Struct, frozen=True):
    """A run as far as it can be compared. ``reports`` are the names of its inputs."""

    reports: tuple[str, ...]
    created_utc: str
    nsysan_version: str
    figures: tuple[Figure, ...]
    conditions: tuple[Condition, ...]
    findings: tuple[KeptFinding, ...]
    skipped: tuple[Skipped, ...]

    def figure(self, figure_id: str) -> Figure | None:
        """The figure with this id, None where the run does not know it."""
        return next((figure for figure in self.figures if figure.id == figure_id), None)


def snapshot_of(run: Run) -> Snapshot:
    """Figures and conditions as the run's results tell them; where a changed run tells a figure twice, the first."""
    results = tuple(run.results.found())
    told = [figure for result in results if isinstance(result, Measured) for figure in result.figures()]
    return Snapshot(
        reports=tuple(report.name for report in run.reports),
        created_utc=run.created_utc,
        nsysan_version=run.nsysan_version,
        figures=_first_of_each_id(told),
        conditions=(
            *(entry for result in results if isinstance(result, Conditioned) for entry in result.conditions()),
            *_conditions_of_envelope(run),
        ),
        findings=tuple(map(_kept, run.findings)),
        skipped=(*run.results.skipped(), *_not_given(results)),
    )


def _not_given(results: Iterable[Result]) -> Iterator[Skipped]:
    """The evidence that nobody gave beside the traces: what it would have told is open, neither solved nor new."""
    for result in results:
        if isinstance(result, Beside) and (missing := result.not_given()) is not None:
            yield Skipped(result.id, f"no {missing} was given", "Give it with --evidence FILE.")


def _kept(finding: Finding) -> KeptFinding:
    sources = tuple(dict.fromkeys(evidence.source for evidence in finding.evidence))
    return KeptFinding(finding.id, finding.cause, finding.severity, finding.title, sources)


def _first_of_each_id(figures: Iterable[Figure]) -> tuple[Figure, ...]:
    first: dict[str, Figure] = {}
    for figure in figures:
        first.setdefault(figure.id, figure)
    return tuple(first.values())


def _conditions_of_envelope(run: Run) -> Iterator[Condition]:
    worlds = sorted({report.world_size for report in run.reports if report.world_size is not None})
    profilers = sorted({report.profiler.value for report in run.reports})
    versions = sorted({report.nsys_version for report in run.reports if report.nsys_version is not None})
    yield Condition("world_size", "world size", ", ".join(map(str, worlds)) or None, Bearing.FORBIDS)
    yield Condition("profiler", "profiler", ", ".join(profilers) or None, Bearing.FORBIDS)
    if (model := run.options.get("model")) is not None:
        yield Condition("model", "model given, by hash", _text(model), Bearing.FORBIDS, is_beside=True)
    yield Condition("gpu_choice", "GPU chosen", _text(run.options.get("gpu")) or "all", Bearing.FORBIDS)
    yield Condition("window_choice", "window chosen", _chosen_window(run), Bearing.CAUTIONS)
    yield Condition("report_count", "reports", str(len(run.reports)), Bearing.CAUTIONS)
    yield Condition("nsys_version", "Nsight Systems", ", ".join(versions) or None, Bearing.CAUTIONS)
    yield from _software(run)
    yield from _record_kinds(run)
    yield Condition("nsysan_version", "analysed by nsysan", run.nsysan_version, Bearing.CAUTIONS)


def _software(run: Run) -> Iterator[Condition]:
    """The versions that a trace of the run tells."""
    told = [report.software for report in run.reports]
    for key, name in _SOFTWARE.items():
        versions = sorted({version for one in told if (version := getattr(one, key)) is not None})
        if versions:
            yield Condition(f"software.{key}", name, ", ".join(versions), Bearing.CAUTIONS)


def _record_kinds(run: Run) -> Iterator[Condition]:
    """Which kinds of records the reports hold, as far as all of each was read."""
    told = [report.recorded for report in run.reports if report.recorded is not None]
    for kind, name in RECORD_KINDS.items() if told else ():
        holding = sum(kind in recorded for recorded in told)
        parts = {0: "not recorded", len(told): "recorded"}
        value = parts.get(holding, f"recorded in {holding} of {len(told)} reports")
        yield Condition(f"recorded.{kind}", name, value, Bearing.GATED)


def _chosen_window(run: Run) -> str:
    keys = {"from_ns": "--from", "to_ns": "--to", "range": "--range"}
    chosen = (
        f"{option} {_text(run.options.get(key))}" for key, option in keys.items() if run.options.get(key) is not None
    )
    return " ".join(chosen) or "none: the whole capture"


def _text(value: object) -> str:
    return "" if value is None else str(value)
