"""The thresholds are in one place, each with its origin, and the documentation has the same."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

import nsysan
from nsysan.findings.registry import rules
from nsysan.model import thresholds

DOCUMENT = Path(__file__).parents[2] / "docs/diagnosis.md"
PACKAGE = Path(nsysan.__file__).parent
ROOMS = ("findings", "analysis", "attribution")
ORIGIN = re.compile(
    r"[Pp]roposal|nsysan's design|As [A-Z_]+|By (arithmetic|the word)|(issue|nsys-ai|marin) \d+|nsys-ai's|Nsight|DGX"
    r"|measured on real exports"
)

BOUNDS = re.compile(
    r"LISTED|SHOWN|LIMIT|MOST_(?!.*FRAC)|_COUNT$|_ROWS$|_PIECES$|_BYTES$|NAMES?$|_PER_(GPU|JOB|DEVICE)|LONGEST|DEEPEST"
    r"|LARGEST|AT_ONCE$|WIDE|NAME_LENGTH|ACTIVITIES|RANGES|SHAPES_OF|APART$|LATE_PAIRS|BUNDLED|CURVE_POINTS|SAMPLES|CHECKED|BINS"
)
"""Names of what a result lists, and of what is looked at to keep time and memory bounded."""
CODES = re.compile(
    r"^_?(NO|NOT|NONE|NOWHERE|UNKNOWN|SEVERAL|UNASSIGNED|LEFT_OUT|LABEL|NOTHING|MEMSET|SOURCES)(_|$)|MASK$"
)
"""Names of numbers that stand for something."""
OTHERS = {
    "analysis/collective_purposes.py:_FEW": "two",
    "analysis/counters.py:_PERCENT": "a unit",
    "analysis/elementwise_chains.py:_PERCENT": "a unit",
    "analysis/gap_sentence.py:NEARLY_ALL_FRAC": "the wording of a sentence",
    "analysis/gap_sentence.py:WORTH_A_WORD_FRAC": "the wording of a sentence",
    "analysis/copy_summary.py:TIMESTAMP_RESOLUTION_NS": "by NVIDIA's staff",
    "analysis/step_figures.py:_FEWEST_FOR_ERROR": "two",
    "analysis/steps.py:FEWEST_FOR_TREND": "two of each third",
    "analysis/steps.py:FEWEST_FOR_DISTANCE": "two distances",
    "attribution/collectives/alignment.py:AGREEMENT_NS": "how clocks are aligned",
    "attribution/collectives/alignment.py:_CLOCKS_AGREE_NS": "how clocks are aligned",
    "attribution/collectives/alignment.py:_FURTHEST_NS": "how clocks are aligned",
    "attribution/collectives/clock_line.py:FASTEST_DRIFT_FRAC": "how clocks are aligned",
    "attribution/collectives/clock_line.py:FEWEST_FOR_DRIFT": "how clocks are aligned",
    "attribution/collectives/exchanges.py:_TWO": "two",
    "attribution/collectives/lateness.py:TWO": "two",
    "attribution/collectives/pipelines.py:_NEIGHBOURS": "two",
    "attribution/collectives/series.py:_TWO": "two",
    "attribution/duration_groups.py:P95_PERCENT": "which figure is told",
    "attribution/gap_sums.py:GAPS_KEPT": "how many are listed",
    "attribution/sessions_apart.py:_APART_NS": "how recordings are told apart",
    "attribution/steps/expression.py:PATIENCE_S": "how long is waited",
    "attribution/steps/markers.py:FEWEST_MARKERS": "two",
}
"""What else is no threshold of the diagnosis, and why."""


def values() -> dict[str, float]:
    return {name: float(value) for name, value in vars(thresholds).items() if name.isupper() and name[:6] != "NS_PER"}


def test_every_threshold_is_documented_with_its_value() -> None:
    rows = re.findall(r"^\| `([A-Z_]+)` \| ([\d.]+)", DOCUMENT.read_text(), re.MULTILINE)

    documented = {name: float(value) for name, value in rows}
    assert list(documented) == list(values())
    assert documented == pytest.approx(values(), rel=1e-3)


def test_every_threshold_says_where_it_comes_from() -> None:
    body = ast.parse(Path(thresholds.__file__).read_text()).body
    told = {name: docstring(following) for statement, following in pairwise(body) for name in constants(statement)}

    assert set(told) == set(values())
    assert [name for name, text in told.items() if not ORIGIN.search(text)] == []


def docstring(statement: ast.stmt) -> str:
    """The text that stands under a constant, on one line; none where something else follows."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return " ".join(str(statement.value.value).split())
    return ""


def constants(statement: ast.stmt) -> Iterator[str]:
    """The name of a number that the statement gives a module."""
    arithmetic = (ast.Constant, ast.BinOp, ast.UnaryOp, ast.Name)
    if not (isinstance(statement, ast.Assign) and isinstance(statement.value, arithmetic)):
        return
    target = statement.targets[0]
    parts = [node.value for node in ast.walk(statement.value) if isinstance(node, ast.Constant)]
    if isinstance(target, ast.Name) and target.id.isupper() and all(type(part) in {int, float} for part in parts):
        yield target.id


def test_no_threshold_is_anywhere_else() -> None:
    strays = {
        f"{path.relative_to(PACKAGE).as_posix()}:{name}"
        for room in ROOMS
        for path in (PACKAGE / room).rglob("*.py")
        for statement in ast.parse(path.read_text()).body
        for name in constants(statement)
        if not BOUNDS.search(name) and not CODES.search(name)
    }

    assert strays == set(OTHERS)


def test_rules_compare_with_no_bare_number() -> None:
    # 0, 1 and 2 count; 2 also stands for "more than half"
    bare = [
        f"{path.name}:{node.lineno}: {number.value!r}"
        for path in (PACKAGE / "findings").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare)
        for number in ast.walk(node)
        if isinstance(number, ast.Constant)
        if type(number.value) in {int, float} and number.value not in {0, 1, 2}
    ]

    assert bare == []


def test_every_rule_is_documented() -> None:
    table = DOCUMENT.read_text().partition("## The rules")[2].partition("\n## ")[0]
    named = {name for row in re.findall(r"^\|([^|]*)\|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}

    assert named == {rule.id for rule in rules()}
