"""Snapshots on one line: a step of so many ms that consists of parts and causes."""

from __future__ import annotations

from nsysan.analysis.collective_figures import COLLECTIVE_TRANSFERS, COLLECTIVE_WAITS
from nsysan.history.snapshot import KeptFinding, Snapshot
from nsysan.model.figures import Bearing, Better, Condition, Figure, Topic, Unit
from nsysan.model.results import Skipped

MS = 1_000_000
STEP = Topic("step", "The steps")
PARTS = Topic("step_parts", "The parts of a step")
CAUSES = Topic("step_idle_causes", "Idle time of a step by cause")
KERNELS = Topic("step_kernels", "Kernel time of a step")
RUNS = Topic("step_kernel_runs", "Kernel runs of a step")
SHAPES = Topic("step_kernel_shapes", "Kernel time by shape of a step")
SHAPE_RUNS = Topic("step_kernel_shape_runs", "Kernel runs by shape of a step")


def step_figures(
    computing_ms: float, communication_ms: float, causes_ms: dict[str, float], *, error_ms: float | None = None
) -> tuple[Figure, ...]:
    """The step and what adds up to it."""
    idle_ms = sum(causes_ms.values())
    total_ms = computing_ms + communication_ms + idle_ms
    error = None if error_ms is None else error_ms * MS
    return (
        Figure(STEP, "mean", "step", total_ms * MS, Unit.NS, Better.LESS, None, error),
        Figure(PARTS, "computing", "computing", computing_ms * MS, Unit.NS, Better.NEITHER, "step.mean"),
        Figure(PARTS, "compute_only", "compute only", computing_ms * MS, Unit.NS, part_of="step_parts.computing"),
        Figure(
            PARTS,
            "exposed_communication",
            "exposed communication",
            communication_ms * MS,
            Unit.NS,
            Better.LESS,
            "step.mean",
        ),
        Figure(PARTS, "idle", "idle", idle_ms * MS, Unit.NS, Better.LESS, "step.mean"),
        *(
            Figure(CAUSES, cause, f"idle by {cause}", time_ms * MS, Unit.NS, Better.LESS, "step_parts.idle")
            for cause, time_ms in causes_ms.items()
        ),
    )


def kernel_figures(name: str, time_ms: float, runs: float) -> tuple[Figure, Figure]:
    """The time and the runs of a kernel a step."""
    return (
        Figure(KERNELS, f"hash of {name}", name, time_ms * MS, Unit.NS, Better.LESS),
        Figure(RUNS, f"hash of {name}", name, runs, Unit.COUNT),
    )


def shape_figures(name: str, shape: str, time_ms: float, runs: float) -> tuple[Figure, Figure]:
    """The time and the runs a step of a kernel in one shape."""
    key, shown = f"hash of {name}.{shape}", f"{name}, {shape}"
    return (
        Figure(SHAPES, key, shown, time_ms * MS, Unit.NS, Better.LESS, f"step_kernels.hash of {name}"),
        Figure(SHAPE_RUNS, key, shown, runs, Unit.COUNT),
    )


def collective_figures_of(name: str, transfer_ms: float, wait_ms: float) -> tuple[Figure, Figure]:
    """The mean transfer and the mean wait of a rank."""
    return (
        Figure(COLLECTIVE_TRANSFERS, name, name, transfer_ms * MS, Unit.NS, Better.LESS),
        Figure(COLLECTIVE_WAITS, name, name, wait_ms * MS, Unit.NS, Better.LESS),
    )


def gpu_model(name: str | None) -> Condition:
    """The model of the GPUs."""
    return Condition("gpu_model", "GPU model", name, Bearing.FORBIDS)


def snapshot(
    *figures: Figure,
    name: str = "rank0.sqlite",
    conditions: tuple[Condition, ...] = (),
    findings: tuple[KeptFinding, ...] = (),
    skipped: tuple[Skipped, ...] = (),
) -> Snapshot:
    """A run with these figures."""
    return Snapshot((name,), "2026-01-01T00:00:00Z", "0.1.0", figures, conditions, findings, skipped)
