"""Throughput, MFU and cost of a run, from its steps and what the user says of model, peak and price."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import msgspec
from msgspec.structs import replace

from nsysan.analysis.baseline import FROM_MODEL, Baseline
from nsysan.analysis.collectives import Collectives
from nsysan.analysis.step_kernels import StepKernels
from nsysan.analysis.step_losses import StepLosses
from nsysan.analysis.steps import Steps
from nsysan.analysis.yardstick import Yardstick, yardstick_of
from nsysan.attribution.job import Job
from nsysan.hardware.answers import Ceiling, Level
from nsysan.hardware.data_sheet_table import DataSheet
from nsysan.hardware.data_sheets import GpuFacts
from nsysan.hardware.gemm_ceilings import peak_ceiling
from nsysan.model.ceilings import Ceilings, Dtype, Origin
from nsysan.model.errors import UsageError
from nsysan.model.findings import Finding
from nsysan.model.kernels import MULTIPLYING
from nsysan.model.losses import Basis
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.text import visible_text
from nsysan.model.units import NS_PER_S, S_PER_HOUR
from nsysan.pipeline.layouts import layout_rows
from nsysan.pipeline.smaller_run import scaling_row
from nsysan.planning.cost import gpu_hours, saved_frac
from nsysan.planning.flop import Attention, flop_per_token
from nsysan.planning.limits import refuse_too_few_gpus
from nsysan.planning.mfu import Pace, conventions, utilisation
from nsysan.planning.model_shape import ModelShape
from nsysan.planning.scaling import StepParts
from nsysan.planning.throughput import GIVEN_PEAK, CostRow, LayoutRow, Throughput, ThroughputReport, UtilisationRow

_NO_MODEL = "needs the model: give --model"
_NO_PEAK = "needs the dense peak of one GPU: give --peak, or --dtype where the trace names the GPU"
_NO_WORLD = "needs how many GPUs the whole job has: give --world-size"
_NO_BATCH = "needs sequence and global_batch of the model: give them with --model FILE,sequence=...,global_batch=..."
_DTYPES = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "float8": "fp8"}
"""What Hugging Face calls data types."""
_ABOVE_PEAK = 1.02
_MORE_MULTIPLY = "more kernels multiply than are known by name, which alone would exceed the peak"


class ThroughputOptions(msgspec.Struct, frozen=True):
    """What the user says. ``peak_flop_per_s`` is of one GPU, dense, of ``dtype``; ``price`` of a GPU-hour.

    ``smaller`` are the parts of a step of a run on fewer GPUs. Raises UsageError where ``dtype`` is none that is known.
    """

    model: ModelShape | None = None
    peak_flop_per_s: float | None = None
    dtype: str | None = None
    price: float | None = None
    smaller: StepParts | None = None

    def __post_init__(self) -> None:
        if self.dtype is not None and _dtype_of(self.dtype) is None:
            raise UsageError(
                f"{visible_text(self.dtype)!r} is no data type that peaks are known of.",
                f"Known types: {', '.join([*(one.value for one in Dtype), *_DTYPES])}.",
            )

    @property
    def is_given(self) -> bool:
        """Whether there is anything to compute."""
        return self.model is not None or self.price is not None or self.smaller is not None


def with_throughput(results: ResultSet, options: ThroughputOptions, job: Job) -> ResultSet:
    """The results and the throughput, with MFU and tokens a second among the baseline figures.

    Raises UsageError where MFU comes out above 1, and where the model needs more GPUs than there are.
    """
    if not options.is_given:
        return results
    report = _Measured(results, options, _yardstick(job)).report()
    found = _with_baseline(results.with_result(Throughput.id, Throughput(report)), report)
    if options.smaller is None:
        return found
    scaled = replace(report, scaling=scaling_row(options.smaller, found))
    return found.with_result(Throughput.id, Throughput(scaled))


def with_costs(results: ResultSet, findings: Sequence[Finding]) -> ResultSet:
    """The results with what the gain of each finding is worth; the step must be known for it."""
    found, losses = results.get(Throughput), results.get(StepLosses)
    if isinstance(found, Skipped) or isinstance(losses, Skipped) or losses.step_losses.basis is not Basis.STEPS:
        return results
    rows = tuple(_costs(found.throughput, losses.step_losses.stretch_ns, findings))
    return results.with_result(Throughput.id, Throughput(replace(found.throughput, costs=rows)))


def _costs(report: ThroughputReport, step_ns: float, findings: Sequence[Finding]) -> Iterator[CostRow]:
    for finding in findings:
        if finding.recoverable_ns and finding.cause is not None:
            saved = saved_frac(finding.recoverable_ns, step_ns)
            money = None if report.cost_per_hour is None else saved * report.cost_per_hour
            yield CostRow(finding.id, finding.cause, saved, money)


def _yardstick(job: Job) -> Yardstick:
    """What all GPUs of the job are held against; nothing where they differ."""
    kinds = [yardstick_of(job, gpu) for gpu in job.gpus]
    alike = bool(kinds) and all(one == kinds[0] for one in kinds)
    return kinds[0] if alike else Yardstick(GpuFacts(None), None, None, None)


def _dtype_of(name: str) -> Dtype | None:
    """The data type of this name, ours or Hugging Face's; None where it is neither."""
    return {dtype.value: dtype for dtype in Dtype}.get(_DTYPES.get(name, name))


class _Measured:
    """What the results tell of the pace, and what the options make of it."""

    def __init__(self, results: ResultSet, options: ThroughputOptions, yardstick: Yardstick) -> None:
        self._results, self._options, self._yardstick = results, options, yardstick
        steps, collectives = results.get(Steps), results.get(Collectives)
        # a step of no length has no pace
        self._step_ns = None if isinstance(steps, Skipped) else steps.steps.mean_ns or None
        self._no_steps = f"needs training steps: {steps.reason}" if isinstance(steps, Skipped) else "no step is steady"
        self._world_size = None if isinstance(collectives, Skipped) else collectives.world_size

    def report(self) -> ThroughputReport:
        """All that follows; the reason of what does not is among ``unknown``."""
        model, step_ns, world_size = self._options.model, self._step_ns, self._world_size
        tokens = None if model is None else model.tokens_per_step
        per_s = None if tokens is None or step_ns is None else tokens * NS_PER_S / step_ns
        price = self._options.price
        hourly = None if price is None or world_size is None else price * world_size
        if model is not None and world_size is not None:
            refuse_too_few_gpus(model, world_size)
        return ThroughputReport(
            step_ns=step_ns,
            world_size=world_size,
            tokens_per_step=tokens,
            tokens_per_s=per_s,
            peak_flop_per_s=None if self._peak is None else self._peak.rate,
            peak_source=None if self._peak is None else self._peak.source,
            dtype=self._dtype,
            utilisation=tuple(self._utilisation()),
            price=price,
            gpu_hours_per_step=None if step_ns is None or world_size is None else gpu_hours(world_size, step_ns),
            cost_per_hour=hourly,
            tokens_per_money=None if per_s is None or not hourly else per_s * S_PER_HOUR / hourly,
            costs=(),
            unknown=dict(self._unknown()),
            measured_flop_per_s=None if self._reached is None else self._reached.rate,
            measured_source=None if self._reached is None else self._reached.source,
            layouts=tuple(self._layouts()),
            multiplying_ns_per_step=self._multiplying_ns,
        )

    def _layouts(self) -> Iterator[LayoutRow]:
        if self._options.model is not None and self._world_size is not None:
            yield from layout_rows(self._options.model, self._world_size, self._results, self._yardstick)

    @property
    def _dtype(self) -> str | None:
        model = self._options.model
        return self._options.dtype or (None if model is None else model.dtype)

    @cached_property
    def _peak(self) -> Ceiling | None:
        """What the user says of the peak, else the data sheet of the GPU and of the data type."""
        given = self._options.peak_flop_per_s
        if given is not None:
            return Ceiling(given, Level.DATA_SHEET, GIVEN_PEAK)
        return self._ceiling_of(None, self._yardstick.sheet)

    @cached_property
    def _reached(self) -> Ceiling | None:
        """The fastest product of the data type in the ceilings that were given; of simulated ones none was measured."""
        ceilings = self._yardstick.ceilings
        return None if ceilings is None or ceilings.origin is Origin.SIMULATED else self._ceiling_of(ceilings, None)

    def _ceiling_of(self, ceilings: Ceilings | None, sheet: DataSheet | None) -> Ceiling | None:
        dtype = _dtype_of(self._dtype or "")
        return None if dtype is None else peak_ceiling(ceilings, sheet, dtype)

    def _utilisation(self) -> Iterator[UtilisationRow]:
        """By both conventions, the default first."""
        model = self._options.model
        if model is None or model.sequence is None:
            return
        for attention in Attention:
            found = None if self._lacking else utilisation(model, self._pace, attention)
            share = None if found is None else self._share_of_measured
            rate = self._multiplying_rates.get(attention)
            yield UtilisationRow(
                attention=attention,
                flop_per_token=flop_per_token(model, attention).model,
                multiplying_flop_per_s=None if self._exceeds_peak(rate) else rate,
                mfu=None if found is None else found.mfu,
                hfu=None if found is None else found.hfu,
                conventions=conventions(model, attention),
                mfu_of_measured=None if found is None or share is None else found.mfu * share,
                hfu_of_measured=None if found is None or share is None else found.hfu * share,
            )

    @cached_property
    def _multiplying_ns(self) -> float | None:
        found = self._results.get(StepKernels)
        rows = () if isinstance(found, Skipped) else found.step_kernels
        return sum(row.time_per_step_ns for row in rows if row.kernel_class in MULTIPLYING) or None

    @cached_property
    def _multiplying_rates(self) -> dict[Attention, float]:
        """FLOP/s of a GPU's kernels that multiply, empty where the work or their time is not known."""
        model, world_size, time_ns = self._options.model, self._world_size, self._multiplying_ns
        if model is None or model.tokens_per_step is None or world_size is None or time_ns is None:
            return {}
        tokens_per_s = model.tokens_per_step / world_size / time_ns * NS_PER_S
        return {attention: tokens_per_s * flop_per_token(model, attention).hardware for attention in Attention}

    def _exceeds_peak(self, rate: float | None) -> bool:
        return rate is not None and self._peak is not None and rate > _ABOVE_PEAK * self._peak.rate

    @property
    def _share_of_measured(self) -> float | None:
        """The peak over the fastest product measured: what turns a share of the one into a share of the other."""
        return None if self._peak is None or self._reached is None else self._peak.rate / self._reached.rate

    @property
    def _pace(self) -> Pace:
        assert self._step_ns is not None
        assert self._world_size is not None
        assert self._peak is not None
        return Pace(self._step_ns, self._world_size, self._peak.rate, self._peak_of(self._peak))

    def _peak_of(self, peak: Ceiling) -> str:
        """``float32 as the model says, NVIDIA H100 data sheet``: a peak of another type is many times as high."""
        if peak.source == GIVEN_PEAK or self._dtype is None:
            return peak.source
        by_model = " as the model says, --dtype says otherwise" if self._options.dtype is None else ""
        return f"{self._dtype}{by_model}, {peak.source}"

    @property
    def _no_peak(self) -> str:
        """Why there is no peak: nothing names the GPU or the data type, or no peak is known of what the model names."""
        if self._dtype is None or _dtype_of(self._dtype) is not None:
            return _NO_PEAK
        return f"needs a data type that peaks are known of, as {self._dtype!r} of the model is not: give --dtype"

    @property
    def _lacking(self) -> str | None:
        """Why there is no MFU."""
        model = self._options.model
        for why, is_missing in (
            (_NO_MODEL, model is None),
            (_NO_BATCH, model is not None and model.tokens_per_step is None),
            (self._no_steps, self._step_ns is None),
            (_NO_WORLD, self._world_size is None),
            (self._no_peak, self._peak is None),
        ):
            if is_missing:
                return why
        return None

    def _unknown(self) -> Iterator[tuple[str, str]]:
        model = self._options.model
        if self._lacking is not None:
            yield "mfu", self._lacking
        if model is None or model.tokens_per_step is None:
            yield "tokens_per_s", _NO_MODEL if model is None else _NO_BATCH
        elif self._step_ns is None:
            yield "tokens_per_s", self._no_steps
        if self._options.price is not None and self._world_size is None:
            yield "cost_per_hour", _NO_WORLD
        if any(map(self._exceeds_peak, self._multiplying_rates.values())):
            yield "multiplying_flop_per_s", _MORE_MULTIPLY


def _with_baseline(results: ResultSet, report: ThroughputReport) -> ResultSet:
    """The six figures with MFU, and with tokens a second where the model tells them; else they stay as they are."""
    baseline = results.get(Baseline)
    if isinstance(baseline, Skipped):
        return results
    figures = replace(baseline.baseline, mfu=report.utilisation[0].mfu if report.utilisation else None)
    told = {"mfu": report.unknown.get("mfu")}
    if report.tokens_per_s is not None:
        figures = replace(figures, tokens_per_s=report.tokens_per_s, tokens_per_s_source=FROM_MODEL)
        told["tokens_per_s"] = None
    elif figures.tokens_per_s is None:
        told["tokens_per_s"] = report.unknown.get("tokens_per_s")
    unknown = {key: why for key, why in figures.unknown.items() if key not in told}
    unknown |= {key: why for key, why in told.items() if why is not None}
    return results.with_result(Baseline.id, Baseline(replace(figures, unknown=unknown)))
