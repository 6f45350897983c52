"""Waits, transfers and clocks of simulated jobs are what the simulation says, to the nanosecond."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest

from nsysan.attribution.collectives.job_collectives import JobCollectives
from nsysan.attribution.job import build_job
from nsysan.ingest.reading import ReadOptions, read_trace
from nsysan.model.kernels import Collective
from nsysan.model.tables import ABSENT
from nsysan.synth.generate import Generated, generate
from nsysan.synth.placement import Layout
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import all_scenarios

OFFSETS_NS = (0, 7_000_000, -3_000_000, 40_000_000)
TALKING = (
    "straggler_compute",
    "straggler_loader",
    "tensor_parallel",
    "pipeline_bubble",
    "moe_skew",
    "rooted_collectives",
)
Instances = dict[tuple[str, tuple[int, ...]], list[tuple[int, tuple[int, ...]]]]


def _generated(scenario: str, **asked: object) -> Generated:
    [found] = [found for found in all_scenarios() if found.name == scenario]
    return generate(Request(scenario=found, step_count=3, **{"layout": Layout.PER_RANK, **asked}))  # type: ignore[arg-type]


def _collectives(folder: Path, generated: Generated, offsets_ns: tuple[int, ...] = ()) -> JobCollectives:
    paths = [export.write(folder / name) for name, export in generated.exports.items()]
    for path, offset_ns in zip(paths, offsets_ns, strict=False):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE TARGET_INFO_SESSION_START_TIME SET utcEpochNs = utcEpochNs + ?", (offset_ns,))
            connection.commit()
    return build_job([read_trace(path, ReadOptions()) for path in paths]).collectives


def _kind(kind: str) -> str:
    """What is made of messages runs in one kernel of NCCL's, whatever it is for."""
    return Collective.SEND_RECV.value if kind == Collective.ALL_TO_ALL.value else kind


def _truth(generated: Generated) -> Instances:
    found: Instances = defaultdict(list)
    for truth in sorted(generated.truth.collectives, key=lambda truth: truth.start_by_rank_ns[0]):
        found[_kind(truth.kind.value), truth.ranks].append((truth.transfer_ns, truth.wait_by_rank_ns))
    return dict(found)


def _measured(collectives: JobCollectives) -> Instances:
    found: Instances = defaultdict(list)
    for one in collectives.measured:
        if one.waits is not None:
            ranks = tuple(collectives.ranks.of_member[member] for member in one.series.members)
            kind = _kind(collectives.found.kinds.name(one.series.kind))
            waits = [tuple(row) for row in one.waits.wait_ns.tolist()]
            found[kind, ranks] += zip(one.waits.transfer_ns.tolist(), waits, strict=True)
    return dict(found)


@pytest.mark.parametrize("rank_count", [2, 4])
@pytest.mark.parametrize("scenario", TALKING)
def test_waits_and_transfers_whatever_the_clocks_say(tmp_path: Path, scenario: str, rank_count: int) -> None:
    generated = _generated(scenario, rank_count=rank_count, includes_blobs=True)

    collectives = _collectives(tmp_path, generated, OFFSETS_NS)

    assert _measured(collectives) == _truth(generated)
    # sessions begin together, so what is to be taken off is what the clocks are ahead
    assert collectives.fitted_clocks.offset_ns == (0,) * rank_count
    assert collectives.fitted_clocks.residual_ns == (0,) * rank_count


@pytest.mark.parametrize("scenario", TALKING)
def test_sessions_that_begin_apart(tmp_path: Path, scenario: str) -> None:
    generated = _generated(scenario, rank_count=4, includes_blobs=True, clock_error_ns=40_000_000)

    collectives = _collectives(tmp_path, generated)

    assert _measured(collectives) == _truth(generated)
    starts_ns = [rank.session_start_ns for rank in generated.truth.ranks]
    assert collectives.fitted_clocks.offset_ns == tuple(start_ns - starts_ns[0] for start_ns in starts_ns)


@pytest.mark.parametrize("schema", ["3.7", "3.25"])
@pytest.mark.parametrize("scenario", ["straggler_compute", "straggler_loader"])
def test_names_alone_are_enough_for_one_communicator(tmp_path: Path, scenario: str, schema: str) -> None:
    generated = _generated(scenario, rank_count=4, schema=schema)

    assert _measured(_collectives(tmp_path, generated, OFFSETS_NS)) == _truth(generated)


def test_communicators_that_end_within_the_noise_of_each_other_pass_for_one(tmp_path: Path) -> None:
    """Names alone cannot tell them apart; what is said of waits is no more wrong than that noise."""
    generated = _generated("tensor_parallel", rank_count=4)

    measured, truth = _measured(_collectives(tmp_path, generated, OFFSETS_NS)), _truth(generated)

    for kind, groups in (("all_reduce", ((0, 1), (2, 3))), ("all_gather", ((0, 2), (1, 3)))):
        waits = [waits for _, waits in measured[kind, (0, 1, 2, 3)]]
        for ranks in groups:
            own = [tuple(row[rank] for rank in ranks) for row in waits]
            assert own == [pytest.approx(expected, abs=50_000) for _, expected in truth[kind, ranks]]


@pytest.mark.parametrize("scenario", ["straggler_compute", "tensor_parallel", "pipeline_bubble", "moe_skew"])
def test_what_pytorch_records(tmp_path: Path, scenario: str) -> None:
    generated = _generated(scenario, rank_count=4, file_format=FileFormat.KINETO, clock_error_ns=3_000_000)

    collectives = _collectives(tmp_path, generated)

    assert _measured(collectives) == _truth(generated)
    sizes = {size for size in collectives.operations.size_bytes.tolist() if size != ABSENT}
    assert {truth.size_bytes for truth in generated.truth.collectives} <= sizes


def test_a_root_that_nothing_tells_leaves_its_collectives_out(tmp_path: Path) -> None:
    generated = _generated("rooted_collectives", rank_count=4, file_format=FileFormat.KINETO)

    collectives = _collectives(tmp_path, generated)

    assert {kind for kind, _ in _measured(collectives)} == {"all_reduce"}
    unresolved = {collectives.found.kinds.name(one.series.kind): one.series.unresolved for one in collectives.measured}
    assert {kind for kind, why in unresolved.items() if why == "its root is not recorded"} == {
        "broadcast",
        "scatter",
        "reduce",
        "gather",
    }


@pytest.mark.parametrize("schema", ["3.7", "3.25"])
def test_messages_that_nothing_addresses_are_not_taken_apart(tmp_path: Path, schema: str) -> None:
    """Of four stages each talks to one or two others; of two stages there is no choice."""
    four, two = (_generated("pipeline_bubble", rank_count=count, schema=schema) for count in (4, 2))
    (tmp_path / "four").mkdir()

    assert _measured(_collectives(tmp_path / "four", four)) == {}
    assert _measured(_collectives(tmp_path, two)) == _truth(two)


@pytest.mark.parametrize("with_payloads", [True, False])
def test_without_a_rank_nothing_of_its_communicators_is_known(tmp_path: Path, *, with_payloads: bool) -> None:
    generated = _generated("tensor_parallel", rank_count=4, includes_blobs=with_payloads, omitted_ranks=frozenset({3}))

    collectives = _collectives(tmp_path, generated)

    known = {key: value for key, value in _truth(generated).items() if with_payloads and 3 not in key[1]}
    assert _measured(collectives) == known
    assert collectives.ranks.missing_count == 1


def test_all_ranks_in_one_report(tmp_path: Path) -> None:
    generated = _generated("tensor_parallel", rank_count=4, includes_blobs=True, layout=Layout.ONE)

    collectives = _collectives(tmp_path, generated)

    assert _measured(collectives) == _truth(generated)
    assert collectives.fitted_clocks.residual_ns == (0,)
