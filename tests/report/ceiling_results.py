"""Results about ceilings, for pages."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.analysis.ceilings import CeilingsFile, CeilingsOfGpus, HeldAgainst, LinkRow
from nsysan.analysis.gemms import GemmRoof, GemmRow, Gemms
from nsysan.hardware.answers import Level
from nsysan.model.ceilings import Direction, Dtype, HostMemory, Origin

ROW = GemmRow(
    dtype=Dtype.BF16,
    m=8192,
    n=14336,
    k=4096,
    batch=1,
    count=1,
    total_ns=1_400_000,
    flop_per_s=687e12,
    ceiling_flop_per_s=720e12,
    ceiling_level=Level.EXACT,
    ceiling_source="measured bf16 of this shape",
    ceiling_is_too_low=False,
    lost_ns=63_788,
    refused=None,
)
REFUSED = replace(ROW, n=4096, flop_per_s=None, lost_ns=None, refused="801.7 TFLOP/s would be 111.4 % of it")
TOO_LOW = replace(ROW, m=16, flop_per_s=721e12, ceiling_is_too_low=True, lost_ns=0)
GEMMS = Gemms(
    gemms=(ROW, REFUSED, TOO_LOW),
    gemms_omitted_count=0,
    gemm_roofs=(GemmRoof(Dtype.BF16, 720e12, "measured", 3e12, "measured"),),
    gemm_total_ns=5_600_000,
    gemm_coverage_frac=0.75,
    gemm_lost_ns=63_788,
    gemm_lost_ns_per_step=20_000,
    gemm_lost_measured_ns_per_step=None,
)
HELD = HeldAgainst(
    ceilings=CeilingsFile(
        Origin.SIMULATED,
        "simulated from: a sheet",
        None,
        (
            CeilingsOfGpus(("gpu0",), None, ("The clock differs.",)),
            CeilingsOfGpus(("gpu1",), "measured on A, recorded on B", ()),
        ),
    ),
    links=(
        LinkRow(
            direction=Direction.HOST_TO_DEVICE,
            host_memory=HostMemory.PINNED,
            count=3,
            mean_bytes=1 << 20,
            rate_bytes_per_s=60e9,
            ceiling_bytes_per_s=55e9,
            ceiling_level=Level.EXACT,
            ceiling_source="measured host to device, pinned",
            is_above=True,
        ),
    ),
    ceilings_too_low=("copies host_to_device",),
)
