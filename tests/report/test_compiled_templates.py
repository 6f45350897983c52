"""Templates are compiled once, again when they change, and never where nothing may be kept."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest
from jinja2 import Environment, FileSystemLoader

from nsysan.report.compiled_templates import compiled_templates


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package of templates in ``tmp_path``, and a Python that keeps what it compiles."""
    module = ModuleType("pages")
    module.__file__ = str(tmp_path / "__init__.py")
    monkeypatch.setitem(sys.modules, "pages", module)
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", None)


def _render(folder: Path, source: str) -> str:
    """What a new process would render of this source."""
    (folder / "page.html").write_text(source)
    environment = Environment(
        loader=FileSystemLoader(folder), autoescape=True, bytecode_cache=compiled_templates("pages")
    )
    return environment.get_template("page.html").render(name="<b>")


def _kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "__pycache__").glob("*.cache")}


def test_a_template_is_kept_compiled_until_it_changes(tmp_path: Path) -> None:
    assert _render(tmp_path, "one {{ name }}") == "one &lt;b&gt;"
    one = _kept(tmp_path)
    assert _render(tmp_path, "one {{ name }}") == "one &lt;b&gt;"
    assert (len(one), _kept(tmp_path)) == (1, one)

    assert _render(tmp_path, "two {{ name }}") == "two &lt;b&gt;"
    assert _kept(tmp_path) != one


def test_a_damaged_copy_is_made_again(tmp_path: Path) -> None:
    assert _render(tmp_path, "one {{ name }}") == "one &lt;b&gt;"
    whole = _kept(tmp_path)
    for name, content in whole.items():
        (tmp_path / "__pycache__" / name).write_bytes(content[:-7])
    assert _render(tmp_path, "one {{ name }}") == "one &lt;b&gt;"
    assert _kept(tmp_path) == whole


def test_a_page_needs_no_place_to_keep_templates(tmp_path: Path) -> None:
    (tmp_path / "__pycache__").write_text("a file where the folder would be")
    assert _render(tmp_path, "one {{ name }}") == "one &lt;b&gt;"


def test_nothing_is_kept_where_python_keeps_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert _render(tmp_path, "one {{ name }}") == "one &lt;b&gt;"
    assert _kept(tmp_path) == {}
