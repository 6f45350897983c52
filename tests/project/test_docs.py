"""The documents say what the code does: commands run as shown, options and keys are named, links lead somewhere."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from nsysan.cli.main import command_line
from nsysan.model.run_json import run_schema
from nsysan.pipeline.result_types import result_types
from tests.project.markdown import RUNNABLE, command_lines, documents, is_of_the_guide, local_links, run_again
from tests.project.repository import ROOT, tracked_files

UPDATE = bool(os.environ.get("NSYSAN_UPDATE_GOLDEN"))
TEXT_SUFFIXES = {".md", ".py", ".toml", ".html", ".css", ".js", ".json", ""}
# every word has a bracket in it, so that this file does not hold what it forbids
FORBIDDEN = re.compile(
    r"py[p]i\.org|pythonhos[t]ed\.org|registry\.np[m]js|deb\.deb[i]an\.org"  # hosts of package registries
    r"|/wor[k]/|/roo[t]/|/tmp/[w]/|\.pyenv/v[e]rsions"  # paths of one machine
)


def test_no_file_names_a_package_registry_or_a_path_of_one_machine() -> None:
    texts = {path: (ROOT / path).read_text("utf-8") for path in tracked_files() if Path(path).suffix in TEXT_SUFFIXES}

    assert {path: FORBIDDEN.findall(text) for path, text in texts.items() if FORBIDDEN.search(text)} == {}


def test_links_inside_the_project_lead_to_a_file() -> None:
    links = {(path, target) for path, text in documents().items() for target in local_links(text)}

    assert {(path, target) for path, target in links if not (ROOT / path).parent.joinpath(target).exists()} == set()


@pytest.mark.parametrize(
    "path", sorted(path for path, text in documents().items() if RUNNABLE.search(text) and not is_of_the_guide(path))
)
def test_commands_do_what_the_document_shows(path: str, tmp_path: Path) -> None:
    text = documents()[path]
    now = run_again(text, lambda command: _run(command, tmp_path))
    if UPDATE:
        (ROOT / path).write_text(now, encoding="utf-8")
    else:
        assert now == text


def test_the_docs_show_the_help_of_every_command() -> None:
    shown = {
        command for block in RUNNABLE.findall(documents()["docs/commands.md"]) for command, _ in command_lines(block)
    }

    assert {f"nsysan {name} --help" for name in command_line().commands} <= shown


def test_every_key_of_run_json_is_explained() -> None:
    explained = set(re.findall(r"`(\w+)", documents()["docs/run-json.md"]))

    assert sorted(set(_keys(run_schema(result_types()))) - explained) == []


def _run(command: str, folder: Path) -> str:
    program, *arguments = shlex.split(command)
    assert program == "nsysan", f"only nsysan is run from documents, not {program}"
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1", "PYTHONPATH": str(ROOT)}
    completed = subprocess.run(
        [sys.executable, "-m", "nsysan", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    return completed.stdout


def _keys(schema: object) -> Iterator[str]:
    """The names of all properties in the schema and its parts."""
    if isinstance(schema, dict):
        yield from schema.get("properties", {})
    parts = schema.values() if isinstance(schema, dict) else schema if isinstance(schema, list) else ()
    for part in parts:
        yield from _keys(part)
