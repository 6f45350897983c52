"""What a step of 1,000 ms loses, and the throughput of its job: figures a reader can add up."""

from __future__ import annotations

from nsysan.analysis.step_losses import ClassLoss, Loss, LossReport, StepLosses
from nsysan.model.findings import ClassVerdict, Diagnosis, Headline
from nsysan.model.losses import Basis, Bound
from nsysan.model.verdicts import BottleneckClass, ClassState
from nsysan.planning.flop import Attention
from nsysan.planning.throughput import CostRow, ScalingRow, Throughput, ThroughputReport, UtilisationRow

MS = 1_000_000
LOSSES = StepLosses(
    LossReport(
        basis=Basis.STEPS,
        stretch_count=4,
        device_count=2,
        stretch_ns=1_000 * MS,
        computing_ns=650 * MS,
        graph_ns=0,
        waiting_ns=60 * MS,
        short_gap_frac=0.2,
        tells_data_waits=True,
        causes=(
            Loss(
                cause="data_loading",
                bottleneck_class=BottleneckClass.DATA,
                bound=Bound.AT_MOST,
                recoverable_ns=250 * MS,
                lost_ns=130 * MS,
                worst_device="gpu1/p100",
                worst_rank=1,
                worst_lost_ns=260 * MS,
                is_of_one_device=True,
            ),
        ),
        classes=tuple(
            ClassLoss(
                bottleneck_class=one,
                recoverable_ns=250 * MS if one is BottleneckClass.DATA else 0,
                unresolved_ns=30 * MS if one is BottleneckClass.COMMUNICATION else 0,
            )
            for one in BottleneckClass
        ),
    )
)
THROUGHPUT = Throughput(
    ThroughputReport(
        step_ns=1e9,
        world_size=2,
        tokens_per_step=8_192,
        tokens_per_s=8_192.0,
        peak_flop_per_s=989e12,
        peak_source="given with --peak",
        dtype="bf16",
        utilisation=tuple(
            UtilisationRow(attention, 5e10, mfu, mfu, ("every parameter (6 N)",))
            for attention, mfu in ((Attention.CAUSAL, 0.3), (Attention.FULL, 0.35))
        ),
        price=2.0,
        gpu_hours_per_step=2 / 3_600,
        cost_per_hour=4.0,
        tokens_per_money=7_372_800.0,
        costs=(CostRow("data_loading", "data_loading", 0.25, 1.0),),
        unknown={},
        scaling=ScalingRow(2, 1, 0.75, 0.9, 0.95, 0.877, is_of_tokens=True),
    )
)
DIAGNOSIS = Diagnosis(
    headline=Headline(
        bottleneck_class=BottleneckClass.DATA,
        cause="data_loading",
        rank=1,
        finding="gpu_idle",
        sentence="Data holds the job back most: on rank 1 the GPU waits for the data loader",
    ),
    why=None,
    classes={
        BottleneckClass.COMPUTE: ClassVerdict(ClassState.UNKNOWN, None, None, 0, "No shapes"),
        BottleneckClass.COMMUNICATION: ClassVerdict(ClassState.UNKNOWN, 0, 0.0, 30 * MS, None),
        BottleneckClass.DATA: ClassVerdict(ClassState.PROBLEM, 250 * MS, 0.25, 0, "The GPU waits for the data loader"),
        BottleneckClass.MEMORY: ClassVerdict(ClassState.OK, 0, 0.0),
        BottleneckClass.SCHEDULING: ClassVerdict(ClassState.PROBLEM, 40 * MS, 0.04, 0, "The host launches too slowly"),
    },
    begin="Compute kernels run for 65.0 % of the mean step: for the rest the GPUs wait.",
    order="The walk meets memory first (3.0 %).",
)
