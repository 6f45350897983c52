"""The guide has a page for every rule, its commands run, and from a simulated symptom it leads to the fix."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from nsysan.analysis.idle_causes import idle_name
from nsysan.findings.registry import rules
from nsysan.history.comparison import compare
from nsysan.history.snapshot import snapshot_of
from nsysan.model.idle import Cause
from nsysan.pipeline.saved_run import load_run
from tests.project.commands import Workplace
from tests.project.markdown import documents, local_links, run_again
from tests.project.repository import ROOT

UPDATE = bool(os.environ.get("NSYSAN_UPDATE_GOLDEN"))
GUIDE = "docs/guide/"
ABOUT_ALL = {"README", "recording", "baseline", "checklist", "mistakes", "practice"}
"""Pages that are about no single rule."""
HEADINGS = ["What it means", "Confirm", "Do", "Undo", "What it won"]
PAGES = {Path(path).stem: text for path, text in documents().items() if path.startswith(GUIDE)}
OF_RULES = {name: text for name, text in PAGES.items() if name not in ABOUT_ALL}
PRACTICE = re.findall(r"^\|.*\| `([\w -]+)` \| \[(\w+)\]", PAGES["practice"], re.MULTILINE)


def test_every_rule_has_its_page_and_every_page_a_rule() -> None:
    assert set(OF_RULES) == {rule.id for rule in rules()}


@pytest.mark.parametrize("name", sorted(OF_RULES))
def test_a_page_says_what_it_means_and_how_to_confirm_do_undo_and_measure_it(name: str) -> None:
    text = OF_RULES[name]

    assert f"Finding `{name}`." in text
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == HEADINGS
    parts = re.split(r"^## .*$", text, flags=re.MULTILINE)[1:]
    assert all(part.strip() for part in parts)
    assert "$ nsysan " in parts[-1]


def test_what_pages_say_gets_smaller_is_a_piece_that_compare_names() -> None:
    causes = {idle_name(cause) for cause in Cause}
    pieces = causes | {"computing", "exposed communication", "exposed transfer", "waiting for other ranks"}
    named = {
        (name, piece)
        for name, text in OF_RULES.items()
        for piece in re.findall(r"`((?:idle by|exposed|waiting) [^`]*|computing)`", text)
    }

    assert {(name, piece) for name, piece in named if piece not in pieces | {"exposed copy"}} == set()
    assert {piece for _, piece in named} >= causes - {
        "idle by launch latency",
        "idle by handover",
        "idle by unknown cause",
    }


def test_the_index_leads_to_every_page() -> None:
    assert {Path(link).stem for link in local_links(PAGES["README"])} >= set(PAGES) - {"README"}


@pytest.fixture(scope="module")
def workplace(tmp_path_factory: pytest.TempPathFactory) -> Workplace:
    """The folder of a reader who has done what the guide says on recording."""
    found = Workplace(tmp_path_factory.mktemp("guide"))
    for example in (ROOT / GUIDE / "examples").iterdir():
        shutil.copy(example, found.folder)
    run_again(PAGES["recording"], found.run)
    return found


@pytest.mark.parametrize("name", sorted(PAGES))
def test_commands_of_the_guide_do_what_it_shows(name: str, workplace: Workplace) -> None:
    text = PAGES[name]
    now = run_again(text, workplace.run)
    if UPDATE:
        (ROOT / GUIDE / f"{name}.md").write_text(now, encoding="utf-8")
    else:
        assert now == text


@pytest.mark.parametrize(("job", "page"), PRACTICE)
def test_the_headline_of_a_simulated_symptom_has_the_page_and_its_fix_solves_it(
    job: str, page: str, workplace: Workplace
) -> None:
    name, _, options = job.partition(" ")
    synth = f"nsysan synth {name} {options or '--ranks 2'} --steps 4"
    workplace.run(f"{synth} -o {name}/slow")
    workplace.run(f"{synth} --without-cause -o {name}/mended")
    for state in ("slow", "mended"):
        workplace.run(f"nsysan analyze {name}/{state} --json {name}-{state}.json -q")

    slow, mended = (load_run(workplace.folder / f"{name}-{state}.json") for state in ("slow", "mended"))
    found = compare(snapshot_of(slow), snapshot_of(mended))

    assert slow.diagnosis.headline is not None
    assert slow.diagnosis.headline.finding == page
    assert f"docs/guide/{page}.md" in workplace.run(f"nsysan report {name}-slow.json --format text")
    assert mended.diagnosis.headline is None or mended.diagnosis.headline.finding != page
    assert page in {finding.id for finding in found.findings.solved}
    assert found.whole is not None
    assert found.whole.change_frac is not None
    assert found.whole.change_frac < -0.02
