"""``[gate]`` of nsysan.toml: read as it says, refused where it says what no budget can."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.history.budgets import Budget, Budgets, read_budgets
from nsysan.model.errors import InputError

FILE = """
[gate]
false_alarm = 0.01
max_age_days = 30

[gate.figures."step.mean"]
relative = 0.02
max = 120_000_000

[gate.figures."baseline.compute_busy_frac"]
absolute = 0.01
spread = 0.004
min = 0.8
"""


def test_budgets_are_read(tmp_path: Path) -> None:
    (tmp_path / "nsysan.toml").write_text(FILE)

    assert read_budgets(tmp_path / "nsysan.toml") == Budgets(
        figures={
            "step.mean": Budget(relative=0.02, most=120_000_000),
            "baseline.compute_busy_frac": Budget(absolute=0.01, spread=0.004, least=0.8),
        },
        false_alarm=0.01,
        max_age_days=30,
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[gate", "holds no budgets"),
        ("[gates]\nx = 1", "unknown field `gates`"),
        ("x = 1", "unknown field `x`"),
        ("[gate]\nfalse_alarms = 0.1", "unknown field `false_alarms`"),
        ("[gate]\nfalse_alarm = 0.0", "false_alarm is a share from 0.001 to 0.5"),
        ('[gate.figures."step.mean"]\nmaximum = 1', "unknown field `maximum`"),
        ('[gate.figures."step.mean"]\nmax = nan', "max and min are finite numbers"),
        ('[gate.figures."step.mean"]\nmin = -inf', "max and min are finite numbers"),
        ('[gate.figures."step.mean"]\nspread = inf', "relative and spread are shares from 0 to 1"),
        ("[gate]\nfalse_alarm = nan", "false_alarm is a share from 0.001 to 0.5"),
        ('[gate.figures."step.mean"]\nrelative = -1.0', "relative and spread are shares from 0 to 1"),
        ('[gate.figures."step.mean"]\nrelative = nan', "relative and spread are shares from 0 to 1"),
        ('[gate.figures."step.mean"]\nrelative = 2', "relative and spread are shares from 0 to 1"),
        ('[gate.figures."step.mean"]\nabsolute = inf', "absolute is an amount from 0 on"),
        ('[gate.figures."step.mean"]\nmin = 2\nmax = 1', "nothing lies between a min and a max that is less"),
        ("[gate]\nmax_age_days = -1", "max_age_days is a count from 0 on"),
        ('[gate.figures."step.mean"]\nrelative = "much"', "Expected `float`"),
    ],
)
def test_what_no_budget_can_be_is_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "nsysan.toml").write_text(text)

    with pytest.raises(InputError) as error:
        read_budgets(tmp_path / "nsysan.toml")

    assert sentence in error.value.message


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Cannot read"):
        read_budgets(tmp_path / "none.toml")
