"""Frameworks spell the ranges of a step in their own way; nothing else changes with that."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.synth.files import write
from nsysan.synth.generate import generate
from nsysan.synth.request import FileFormat, Request
from nsysan.synth.scenario import find_scenario
from nsysan.synth.training.spelling import SPELLINGS

LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
OPTIMIZER = "Optimizer.step#AdamW.step"
PLAIN = Request(scenario=find_scenario("healthy"), rank_count=2, step_count=3)


@pytest.mark.parametrize(
    ("framework", "markers", "phases"),
    [
        ("pytorch", ["step 0", "step 1", "step 2"], {"forward", "backward", LOADER, OPTIMIZER}),
        (
            "lightning",
            ["[pl][profile]run_training_batch"] * 3,
            {
                "[pl][profile][Strategy]DDPStrategy.training_step",
                "[pl][profile][Strategy]DDPStrategy.backward",
                LOADER,
                OPTIMIZER,
            },
        ),
        (
            "megatron-bridge",
            ["training_step_0", "training_step_1", "training_step_2"],
            {LOADER, "Optimizer.step#FusedAdam.step"},
        ),
        ("deepspeed", [], {"DeepSpeedEngine.forward", "DeepSpeedEngine.backward", LOADER, OPTIMIZER}),
        ("jax", ["XlaModule:#hlo_module=jit_train_step,program_id=12#"] * 3, set()),
    ],
)
def test_only_the_texts_of_steps_and_phases_change(
    framework: str, markers: list[str], phases: set[str], tmp_path: Path
) -> None:
    plain, spelt = generate(PLAIN), generate(replace(PLAIN, spelling=framework))
    write(spelt, tmp_path)

    with closing(sqlite3.connect(tmp_path / "healthy.sqlite")) as connection:
        texts = [
            text
            for (text,) in connection.execute(
                """SELECT text FROM NVTX_EVENTS WHERE eventType = 59 AND text NOT LIKE 'aten::%' AND text IS NOT NULL
                   AND globalTid >> 24 & 0xFFFFFF = 1000 ORDER BY start"""
            )
        ]
    assert [text for text in texts if text not in phases] == markers
    assert {text: texts.count(text) for text in phases} == dict.fromkeys(phases, 3)
    for here, there in zip(plain.truth.ranks, spelt.truth.ranks, strict=True):
        assert [(step.start_ns, step.end_ns) for step in there.steps] == [
            (step.start_ns, step.end_ns) for step in here.steps
        ]
        assert [step.marker or "" for step in there.steps] == (markers or ["", "", ""])[:2]
        # the host's time goes by the ranges that are seen
        assert [stage.time for stage in there.stages] == [stage.time for stage in here.stages]
        assert replace(there, steps=(), stages=()) == replace(here, steps=(), stages=())


def test_xla_has_a_domain_of_its_own(tmp_path: Path) -> None:
    write(generate(replace(PLAIN, spelling="jax")), tmp_path)

    with closing(sqlite3.connect(tmp_path / "healthy.sqlite")) as connection:
        domains = dict(connection.execute("SELECT domainId, text FROM NVTX_EVENTS WHERE eventType = 75"))
        [marked] = connection.execute("SELECT DISTINCT domainId FROM NVTX_EVENTS WHERE text LIKE 'XlaModule%'")
    assert domains == {1: "NCCL", 2: "TSL"}
    assert marked == (2,)


OWN_STEPS = {
    "pytorch": [],  # the profiler's step() is what numbers the steps of a loop of one's own
    "lightning": ["[pl][profile]run_training_batch"] * 3,
    "megatron-bridge": ["training_step_0", "training_step_1", "training_step_2"],
    "deepspeed": [],
    "jax": ["XlaModule:#hlo_module=jit_train_step,program_id=12#"] * 3,
}


@pytest.mark.parametrize("framework", SPELLINGS)
def test_a_profiler_trace_annotates_them_alike_inside_its_own_steps(framework: str, tmp_path: Path) -> None:
    generated = generate(replace(PLAIN, spelling=framework, file_format=FileFormat.KINETO))

    [trace, _] = generated.exports.items()
    events = json.loads(trace[1].write(tmp_path / trace[0]).read_text())["traceEvents"]

    spelling = SPELLINGS[framework]
    phases = {spelling.forward, spelling.backward, spelling.loader, spelling.optimizer}
    annotations = [event for event in events if event.get("cat") == "user_annotation"]
    steps = [event for event in annotations if event["name"].startswith("ProfilerStep#")]
    assert sorted(event["name"] for event in steps) == ["ProfilerStep#0", "ProfilerStep#1", "ProfilerStep#2"]
    own = [event for event in annotations if event not in steps and event["name"] not in phases]
    assert sorted(event["name"] for event in own) == OWN_STEPS[framework]
    for number, event in enumerate(sorted(own, key=lambda event: float(event["ts"]))):
        assert (event["ts"], event["dur"]) == (steps[number]["ts"], steps[number]["dur"])
    for phase in {spelling.forward, spelling.backward} - {None}:
        assert [event["name"] for event in annotations].count(phase) == 3
    assert [step.marker for step in generated.truth.ranks[0].steps] == ["ProfilerStep#0", "ProfilerStep#1"]
