"""How fast the job multiplies, as far as its matrix products were held against something."""

from __future__ import annotations

from nsysan.analysis.gemms import Gemms
from nsysan.analysis.kernel_summary import KernelSummary
from nsysan.analysis.step_losses import LossReport
from nsysan.model.kernels import KernelClass
from nsysan.model.losses import Basis
from nsysan.model.results import ResultSet, Skipped
from nsysan.model.thresholds import ENOUGH_MEASURED_FRAC, MOSTLY_FRAC
from nsysan.model.units import format_fraction


class ProductSpeed:
    """What is known of it, in the stretch of time that the report is about."""

    def __init__(self, report: LossReport, results: ResultSet) -> None:
        self._report = report
        found, kernels = results.get(Gemms), results.get(KernelSummary)
        self._gemms = None if isinstance(found, Skipped) else found
        rows = () if isinstance(kernels, Skipped) else kernels.kernel_classes
        self._work_frac = next((row.work_frac for row in rows if row.kernel_class is KernelClass.GEMM), 0.0) or 0.0

    @property
    def is_measured(self) -> bool:
        """Whether enough of the products was held against measured ceilings to tell what a step loses in them."""
        return (
            self._report.basis is Basis.STEPS
            and self._gemms is not None
            and self._gemms.measured_frac >= ENOUGH_MEASURED_FRAC
        )

    @property
    def tells_of_computing(self) -> bool:
        """Whether they are also most of what kernels do, so that computing is sound where they are."""
        return self.is_measured and self._work_frac > MOSTLY_FRAC

    @property
    def told(self) -> str:
        """What was measured, or what is missing, as a sentence."""
        if self._work_frac == 0:
            return "How fast GEMMs are against a measured ceiling is not known."
        share = f"GEMMs take {format_fraction(self._work_frac)} of kernel time"
        gemms = self._gemms
        if gemms is None or (lost_ns := gemms.gemm_lost_ns_per_step) is None or self._report.basis is not Basis.STEPS:
            return f"{share}; how fast they are needs their shapes{self._and_steps} and a measured ceiling."
        lost = format_fraction(lost_ns / self._report.stretch_ns)
        if self.is_measured:
            rest = "" if self.tells_of_computing else ", and of the other kernels nothing was measured"
            return f"{share} and lose {lost} of a step against measured ceilings{rest}."
        if gemms.measured_frac:
            known = format_fraction(gemms.measured_frac)
            return f"{share}; only {known} of their time could be held against a measured ceiling."
        return f"{share} and lose {lost} of a step against a data sheet; what they can reach needs a measured ceiling."

    @property
    def doubt(self) -> str:
        """Why computing may still be slow where nothing else is; empty where it is known not to be."""
        if self.tells_of_computing:
            return ""
        if self.is_measured:
            return "How fast kernels other than GEMMs should be was not measured, so computing itself may be slow"
        return "How fast GEMMs are against a measured ceiling is not known, so computing itself may be slow"

    @property
    def _and_steps(self) -> str:
        return "" if self._gemms is None or self._report.basis is Basis.STEPS else ", steps"
