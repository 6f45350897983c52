"""Frameworks spell the ranges of a step in their own way; nothing else changes with that."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

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
        assert replace(there, steps=()) == replace(here, steps=())


def test_xla_has_a_domain_of_its_own(tmp_path: Path) -> None:
    write(generate(replace(PLAIN, spelling="jax")), tmp_path)

    with closing(sqlite3.connect(tmp_path / "healthy.sqlite")) as connection:
        domains = dict(connection.execute("SELECT domainId, text FROM NVTX_EVENTS WHERE eventType = 75"))
        [marked] = connection.execute("SELECT DISTINCT domainId FROM NVTX_EVENTS WHERE text LIKE 'XlaModule%'")
    assert domains == {1: "NCCL", 2: "TSL"}
    assert marked == (2,)


@pytest.mark.parametrize("framework", SPELLINGS)
def test_a_profiler_trace_annotates_them_alike(framework: str, tmp_path: Path) -> None:
    generated = generate(replace(PLAIN, spelling=framework, file_format=FileFormat.KINETO))

    [trace, _] = generated.exports.items()
    text = trace[1].write(tmp_path / trace[0]).read_text()

    spelling = SPELLINGS[framework]
    for phase in (spelling.step_text(0), spelling.forward, spelling.backward):
        assert phase is None or f'"name": "{phase}"' in text
    assert '"name": null' not in text
