"""Which traces a ceilings file tells of, with what reserve; merging and comparing files."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from msgspec.structs import replace

from nsysan.hardware.data_sheets import GpuFacts
from nsysan.hardware.matching import match_gpu
from nsysan.hardware.merging import Figure, figures_of, merge
from nsysan.hardware.simulated import simulate
from nsysan.model.ceilings import Conditions, MeasuredGpu, Origin, Topology
from nsysan.model.errors import UsageError
from nsysan.model.units import NS_PER_S
from tests.hardware.ceilings import H100, ceilings, curve, gemm, host_link, memory

NAME = "NVIDIA H100 80GB HBM3"
RECORDED = int(datetime(2026, 2, 1, tzinfo=timezone.utc).timestamp()) * NS_PER_S


def facts(name: str | None = NAME, sm_count: int | None = 132, **told: Any) -> GpuFacts:
    return GpuFacts(name, sm_count, **told)


def test_the_same_gpu_matches() -> None:
    told = facts(capability=(9, 0), sm_clock_hz=1.98e9, memory_bytes=85_000_000_000)
    match = match_gpu(ceilings(), told, RECORDED)
    assert (match.refused, match.warnings) == (None, ())


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (facts("NVIDIA H200"), "measured on NVIDIA H100 80GB HBM3, recorded on NVIDIA H200"),
        (facts("NVIDIA H100 PCIe", 114), "measured on NVIDIA H100 80GB HBM3, recorded on NVIDIA H100 PCIe"),
        (facts(capability=(9, 1)), "measured at compute capability 9.0, recorded at 9.1"),
        (facts(sm_count=66), "measured with 132 SMs, recorded with 66: one of them is a part of a GPU"),
        (facts(None), "the trace does not tell which GPU it is of"),
    ],
)
def test_another_gpu_is_refused(told: GpuFacts, reason: str) -> None:
    assert match_gpu(ceilings(), told, RECORDED).refused == reason


def test_names_that_no_sheet_knows_must_be_equal() -> None:
    measured = ceilings(gpus=(MeasuredGpu("NVIDIA A10G", None, None),))
    assert match_gpu(measured, facts("NVIDIA A10G", None), None).refused is None
    assert match_gpu(measured, facts("NVIDIA A10", None), None).refused is not None


def test_what_differs_warns() -> None:
    held_back = Conditions(throttle_reasons=("hw_thermal_slowdown", "sw_power_cap"))
    hot = replace(gemm(512, 512, 512, 700), conditions=held_back)
    gpu = MeasuredGpu(NAME, "9.0", 132, sm_clock_most_hz=1.755e9, power_limit_w=500, power_limit_default_w=700)
    measured = ceilings(gpus=(gpu,), forced=True, gemm=(hot,), created_utc="2025-01-01T00:00:00Z")
    assert match_gpu(measured, facts(sm_clock_hz=1.98e9), RECORDED).warnings == (
        "The ceilings were measured although something spoke against it (--force).",
        "While the ceilings were measured the GPU was held back: hw_thermal_slowdown.",
        "The highest SM clock was 1755 MHz when measured and 1980 MHz when recorded.",
        "Measured under a power limit of 500 W, where 700 W is the default; what the trace ran under is not known.",
        "396 days lie between measuring and recording: drivers and libraries may have changed.",
    )


@pytest.mark.parametrize(
    ("recorded", "warnings"),
    [
        ("580.95.05", ()),
        (None, ()),
        ("570.86.10", ("Measured under driver 580.65.06, recorded under 570.86.10.",)),
    ],
)
def test_another_branch_of_the_driver_warns(recorded: str | None, warnings: tuple[str, ...]) -> None:
    measured = ceilings(driver_version="580.65.06")
    assert match_gpu(measured, facts(driver_version=recorded), RECORDED).warnings == warnings


def test_simulated_and_imported_say_so() -> None:
    simulated = match_gpu(simulate(NAME, "2026-01-01T00:00:00Z"), facts(), RECORDED)
    assert simulated.refused is None
    assert simulated.warnings[0] == "The ceilings are simulated from a data sheet: nothing was measured."
    imported = match_gpu(ceilings(origin=Origin.IMPORTED, source="nvbandwidth v0.8"), facts(), RECORDED)
    assert imported.warnings == ("The ceilings were measured by another tool: nvbandwidth v0.8.",)


def test_merging_keeps_the_later_of_what_was_measured_twice() -> None:
    one = ceilings(gemm=(gemm(512, 512, 512, 700), gemm(64, 64, 64, 1)), memory=(memory(3000),), source="a")
    other = ceilings(gemm=(gemm(512, 512, 512, 710),), links=(host_link(1 << 20, 40),), source="b", forced=True)
    merged = merge([one, other])
    assert (merged.gemm, merged.memory, merged.links, merged.source, merged.forced, merged.gpus) == (
        (gemm(512, 512, 512, 710), gemm(64, 64, 64, 1)),
        (memory(3000),),
        (host_link(1 << 20, 40),),
        "a; b",
        True,
        (H100,),
    )


def test_of_different_drivers_none_is_kept_and_it_is_said() -> None:
    one, other = (ceilings(driver_version=version, cuda_version="13.0") for version in ("580.65.06", "570.86.10"))
    merged = merge([one, other])
    assert (merged.driver_version, merged.cuda_version) == (None, "13.0")
    assert merged.warnings == ("Measured under different drivers: 580.65.06 and 570.86.10.",)
    assert merge([ceilings(), other]).driver_version == "570.86.10"


def test_collectives_of_gpus_that_are_joined_differently_are_not_merged() -> None:
    switched, bridged = (Topology((("X", how), (how, "X")), how) for how in ("NV", "SYS"))
    of_switch = ceilings(topology=switched, collectives=(curve({8: 20.0}),))
    with pytest.raises(UsageError, match="joined differently"):
        merge([of_switch, ceilings(topology=bridged, collectives=(curve({8: 30.0}),))])
    # products do not hang on it
    assert merge([ceilings(memory=(memory(3000),)), of_switch]).topology == switched


def test_what_does_not_belong_together_is_not_merged() -> None:
    other_gpu = ceilings(gpus=(MeasuredGpu("NVIDIA H200", "9.0", 132),))
    with pytest.raises(UsageError, match="different GPUs: measured on NVIDIA H100"):
        merge([ceilings(), other_gpu])
    with pytest.raises(UsageError, match="do not mix"):
        merge([ceilings(), simulate(NAME, "2026-01-01T00:00:00Z")])


def test_figures_have_keys_that_tell_them_apart() -> None:
    measured = ceilings(
        gemm=(gemm(512, 256, 128, 700),),
        memory=(memory(3000),),
        links=(host_link(1 << 20, 40),),
        collectives=(curve({8: 20.0}),),
    )
    assert list(figures_of(measured)) == [
        Figure("gemm bf16 TN 512 x 256 x 128 sustained best", 7e14, "FLOP/s"),
        Figure("memory triad 1073741824 B", 3e12, "B/s"),
        Figure("link host_to_device pinned gpu0 1048576 B", 4e10, "B/s"),
        Figure("all_reduce bf16 8 ranks 1 nodes process_per_gpu isolated 8 B", 20_000.0, "ns"),
    ]
    every = [figure.key for figure in figures_of(simulate("B200", "2026-01-01T00:00:00Z"))]
    assert len(every) == len(set(every))
