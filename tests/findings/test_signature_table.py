"""Every signature that experts check has a trace that shows it and one that just misses it: which is which.

A row names a scenario of ``nsysan synth`` or a test, by module and name; ``NEAR`` are scenarios turned down in
``tests/pipeline/test_near_misses.py``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.scenario import all_scenarios
from tests.pipeline.test_near_misses import NEAR_MISSES

TESTS = Path(__file__).parents[1]
SCENARIOS = {scenario.name: scenario for scenario in all_scenarios()}
NEAR = "near:"
COMPUTE, COMMUNICATION = BottleneckClass.COMPUTE, BottleneckClass.COMMUNICATION
MEMORY, DATA, SCHEDULING = BottleneckClass.MEMORY, BottleneckClass.DATA, BottleneckClass.SCHEDULING

SIGNATURES = "findings/test_signatures.py::"
VERDICTS = "pipeline/test_synthetic_verdicts.py::"


@dataclass(frozen=True)
class Row:
    """A signature of a class, what shows it, and what misses it."""

    bottleneck_class: BottleneckClass
    signature: str
    shown: str
    missed: str


NEAR_PIPELINE = "analysis/test_pipelines.py::test_two_ranks_that_always_answer_each_other_are_no_pipeline"
LINKS = "pipeline/test_slow_links.py::"
GRAPHS = "analysis/test_graph_builds.py::"
TABLE = (
    Row(COMPUTE, "healthy compute bound", "compute_sound", "compute_bound"),
    Row(COMPUTE, "inefficient GEMM", "compute_bound", "compute_sound"),
    Row(
        COMPUTE,
        "non-GEMM heavy",
        "memory_bound",
        f"{SIGNATURES}test_elementwise_kernels_of_over_30_percent_could_be_fused",
    ),
    Row(COMPUTE, "clock throttle", "straggler_compute", f"{NEAR}straggler_compute"),
    Row(COMMUNICATION, "exposed collective", "communication_bound", f"{NEAR}communication_bound"),
    Row(COMMUNICATION, "exposed collective of tensors", "tensor_parallel", f"{NEAR}tensor_parallel"),
    Row(
        COMMUNICATION,
        "slow link",
        f"{LINKS}test_links_far_below_what_they_were_measured_to_reach_are_the_headline",
        f"{LINKS}test_links_near_their_curve_or_without_one_are_not_called_slow",
    ),
    Row(
        COMMUNICATION,
        "wrong transport",
        "pipeline/test_evidence.py::test_mixed_networks_are_a_finding_that_names_rank_and_line",
        "pipeline/test_evidence.py::test_when_a_transport_is_a_finding",
    ),
    Row(COMMUNICATION, "waiting for a late rank", "straggler_loader", f"{NEAR}straggler_loader"),
    Row(COMMUNICATION, "ranks that take turns", "rotating_ranks", f"{NEAR}rotating_ranks"),
    Row(
        COMMUNICATION,
        "same-stream serialisation",
        f"{SIGNATURES}test_communication_on_the_computing_stream_is_told",
        f"{SIGNATURES}test_one_stray_kernel_of_communication_shares_no_stream",
    ),
    Row(COMMUNICATION, "contention", "contention", f"{NEAR}contention"),
    Row(COMMUNICATION, "pipeline bubble", "pipeline_bubble", NEAR_PIPELINE),
    Row(COMMUNICATION, "MoE dispatch and skew", "moe_skew", f"{NEAR}moe_skew"),
    Row(
        MEMORY,
        "bound by copies between host and device",
        "pipeline/test_known_cases.py::test_a_gpu_that_copies_is_not_idle",
        f"{NEAR}pageable_copies",
    ),
    Row(MEMORY, "pageable copy", "pageable_copies", f"{NEAR}pageable_copies"),
    Row(MEMORY, "allocator churn", "allocator", f"{NEAR}allocator"),
    Row(MEMORY, "activations computed again", "recomputation", f"{NEAR}recomputation"),
    Row(
        MEMORY,
        "kernels bound by memory",
        f"{VERDICTS}test_rows_of_kernels_that_memory_bounds_are_the_headline_where_counters_were_sampled",
        f"{NEAR}memory_bound",
    ),
    Row(DATA, "loader wait", "data_bound", f"{NEAR}data_bound"),
    Row(DATA, "tokenise or collate on one rank", "straggler_loader", f"{NEAR}straggler_loader"),
    Row(SCHEDULING, "launch bound", "launch_bound", f"{NEAR}launch_bound"),
    Row(SCHEDULING, "host sync", "sync_bound", f"{NEAR}sync_bound"),
    Row(SCHEDULING, "Python GC without a range", "garbage_collection", f"{NEAR}garbage_collection"),
    Row(
        SCHEDULING,
        "Python GC in a range",
        f"{SIGNATURES}test_a_pause_that_its_range_names_costs_its_length",
        f"{SIGNATURES}test_a_pause_of_half_a_percent_is_no_finding",
    ),
    Row(SCHEDULING, "lazy module load", "lazy_loading", f"{NEAR}lazy_loading"),
    Row(
        SCHEDULING,
        "graph re-instantiation",
        f"{GRAPHS}test_a_graph_that_is_instantiated_in_every_step_is_found",
        f"{GRAPHS}test_a_graph_that_is_made_once_and_launched_often_is_as_it_should_be",
    ),
    Row(SCHEDULING, "checkpoint without a range", "checkpoint", f"{NEAR}checkpoint"),
    Row(
        SCHEDULING,
        "profiler artefact",
        f"{SIGNATURES}test_a_step_in_which_the_profiler_flushed_counts_for_nothing",
        f"{SIGNATURES}test_what_the_profiler_costs_a_trace_without_steps_is_no_fault_of_the_job",
    ),
    Row(
        SCHEDULING,
        "another process on the GPU",
        f"{SIGNATURES}test_a_process_that_was_not_recorded_and_held_the_gpu_is_told",
        f"{SIGNATURES}test_a_process_that_was_not_recorded_and_held_the_gpu_is_told",
    ),
)


def exists(reference: str) -> bool:
    """Whether there is such a scenario, such a near miss, or such a test."""
    if reference.startswith(NEAR):
        return reference.removeprefix(NEAR) in NEAR_MISSES
    if "::" not in reference:
        return reference in SCENARIOS
    module, name = reference.split("::")
    return re.search(rf"^def {name}\(", (TESTS / module).read_text(), re.MULTILINE) is not None


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row.signature)
def test_a_signature_is_shown_and_just_missed(row: Row) -> None:
    assert (exists(row.shown), exists(row.missed)) == (True, True)


def test_every_scenario_with_a_cause_shows_a_signature_of_the_table() -> None:
    caused = {name for name, scenario in SCENARIOS.items() if scenario.cause is not None}

    assert caused <= {row.shown for row in TABLE}
    assert set(NEAR_MISSES) <= {row.missed.removeprefix(NEAR) for row in TABLE}
