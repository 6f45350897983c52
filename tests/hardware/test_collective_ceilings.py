"""Collectives against curves: by kind, ranks, nodes and size; and links."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nsysan.hardware.answers import Ceiling, Level
from nsysan.hardware.collective_ceilings import Exchange, RanksApart, collective_ceiling, without_curve
from nsysan.hardware.data_sheets import sheet_named
from nsysan.hardware.link_ceilings import link_ceiling
from nsysan.hardware.size_curve import SizeCurve
from nsysan.model.ceilings import Ceilings, Direction, HostMemory, Mode, Timing
from nsysan.model.kernels import Collective
from tests.hardware.ceilings import ceilings, curve, host_link

SHEET = sheet_named("NVIDIA H100 80GB HBM3")
SUM = Collective.ALL_REDUCE
MB, GB = 10**6, 10**9


def gb_per_s(found: Ceiling | None) -> tuple[float, Level]:
    assert found is not None
    return round(found.rate / 1e9, 6), found.level


EACH = Mode.PROCESS_PER_GPU


def judged(measured: Ceilings | None, size_bytes: int, ranks: int = 8, nodes: int | None = 1) -> Ceiling | None:
    return collective_ceiling(measured, SHEET, Exchange(SUM, size_bytes, RanksApart(ranks, nodes, EACH)))


def test_a_size_has_its_own_ceiling_not_the_maximum_of_the_table() -> None:
    """C29: 1 MB reaches 50 GB/s and 1 GB 400: an operation of 1 MB at 45 is at 90 %, not at 11 %."""
    # busbw = 1.75 S / t with 8 ranks: 1 MB in 35 us, 1 GB in 4375 us
    measured = ceilings(collectives=(curve({MB: 35.0, GB: 4375.0}),))
    assert gb_per_s(judged(measured, MB)) == (50.0, Level.EXACT)
    assert 45 / 50 == 0.9
    assert gb_per_s(judged(measured, GB)) == (400.0, Level.EXACT)
    assert gb_per_s(judged(measured, 8 * GB)) == (400.0, Level.PLATEAU)
    # half way of the logarithms: sqrt(1 MB x 1 GB) = 31.62 MB in sqrt(35 x 4375) = 391.3 us
    rate, level = gb_per_s(judged(measured, 31_622_777))
    assert rate == pytest.approx(1.75 * 31_622_777 / 391_312, rel=1e-4)
    assert level is Level.INTERPOLATED
    assert judged(measured, 1000) is None


def test_between_sizes_time_goes_with_the_logarithm_of_size() -> None:
    found = SizeCurve.of([(MB, 35.0), (100 * MB, 3500.0)]).time_ns(10 * MB)
    assert found == pytest.approx(350.0)


def test_another_number_of_nodes_has_no_ceiling() -> None:
    """nccl-tests #169: a two-node result says nothing of one node."""
    measured = ceilings(collectives=(curve({MB: 35.0, GB: 4375.0}, ranks=16, nodes=2),))
    assert judged(measured, MB, ranks=16, nodes=4) is None
    assert gb_per_s(judged(measured, MB, ranks=16, nodes=2))[1] is Level.EXACT
    assert judged(measured, MB, ranks=8, nodes=2) is None


def test_curves_of_one_process_tell_nothing_of_processes_each() -> None:
    """nccl #1407: on the same 8 GPUs they are different objects."""
    one = replace(curve({MB: 35.0, GB: 4375.0}), mode=Mode.ONE_PROCESS)
    measured = ceilings(collectives=(one,))
    assert gb_per_s(judged(measured, MB))[1] is Level.DATA_SHEET
    like = collective_ceiling(measured, SHEET, Exchange(SUM, MB, RanksApart(8, 1, Mode.ONE_PROCESS)))
    assert gb_per_s(like) == (50.0, Level.EXACT)
    unknown = collective_ceiling(measured, SHEET, Exchange(SUM, MB, RanksApart(8, 1)))
    assert gb_per_s(unknown) == (50.0, Level.EXACT)


def test_what_curves_tell_nothing_of_is_said() -> None:
    measured = ceilings(collectives=(curve({MB: 35.0}), curve({MB: 35.0}, Collective.BROADCAST)))
    groups = [RanksApart(4, 1, EACH), RanksApart(16, 2, EACH), RanksApart(8, 1, Mode.ONE_PROCESS)]
    assert without_curve(measured, groups) == (
        "The curves of collectives are not used for 16 ranks on 2 nodes, each of its own process; 8 ranks on 1 node, "
        "all of one process: measured were 8 ranks on 1 node, each of its own process."
    )
    assert without_curve(measured, groups[:1]) is None
    assert without_curve(ceilings(), groups) is None


def test_other_ranks_of_one_node_are_scaled_by_the_bus_factor() -> None:
    measured = ceilings(collectives=(curve({MB: 35.0, GB: 4375.0}),))
    found = judged(measured, GB, ranks=4)
    assert gb_per_s(found) == (400.0, Level.SCALED)
    assert found is not None
    assert found.source == "measured all_reduce of 8 ranks"


def test_small_messages_are_not_judged_by_queued_calls() -> None:
    times = {8: 20.0, 1024: 20.0, MB: 59.0, 2 * MB: 61.0}
    queued = ceilings(collectives=(curve(times, timing=Timing.PIPELINED),))
    assert judged(queued, MB) is None
    assert judged(queued, 2 * MB) is not None
    assert judged(ceilings(collectives=(curve(times),)), MB) is not None


def test_without_a_curve_nvlink_says() -> None:
    assert gb_per_s(judged(None, GB)) == (360.0, Level.DATA_SHEET)
    assert judged(None, GB, nodes=2) is None
    assert judged(None, GB, nodes=None) is None


def test_links() -> None:
    measured = ceilings(links=(host_link(1 << 20, 40), host_link(1 << 30, 55), host_link(1 << 30, 54)))
    pinned = Direction.HOST_TO_DEVICE, HostMemory.PINNED
    assert gb_per_s(link_ceiling(measured, SHEET, *pinned, 1 << 30)) == (55.0, Level.EXACT)
    assert gb_per_s(link_ceiling(measured, SHEET, *pinned, 1 << 32)) == (55.0, Level.PLATEAU)
    assert link_ceiling(measured, SHEET, *pinned, 1 << 10) is None
    assert gb_per_s(link_ceiling(None, SHEET, *pinned, 1 << 10)) == (55.0, Level.DATA_SHEET)
    assert link_ceiling(None, SHEET, Direction.HOST_TO_DEVICE, HostMemory.PAGEABLE, 1 << 30) is None
    assert gb_per_s(link_ceiling(None, SHEET, Direction.PEER_TO_PEER, None, 1)) == (450.0, Level.DATA_SHEET)
