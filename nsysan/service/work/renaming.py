"""A run read from files under names of ours tells of them by the names that people gave them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path

from nsysan.analysis.registry import result_types
from nsysan.model.run import Run
from nsysan.model.run_json import decode_run, encode_run
from nsysan.model.text import display_text, visible_text


def renamed(run: Run, names: Mapping[Path, str]) -> Run:
    """The run with every path and name of a file, wherever it stands, put as ``names`` has it.

    Our names are random, so that no other text is taken for one.
    """
    document = encode_run(run).decode()
    for path, name in names.items():
        # as in a string of JSON, without its quotes
        shown = json.dumps(display_text(name), ensure_ascii=False)[1:-1]
        for ours in (str(path), path.name):
            document = document.replace(ours, shown)
    return decode_run(document.encode(), result_types())


def sentence_for_people(text: str, names: Mapping[Path, str], folder: str) -> str:
    """The text with files called as people call them; in a command, only by a name that a shell takes for one."""
    for path, name in names.items():
        text = text.replace(visible_text(str(path)), visible_text(name))
        text = text.replace(path.name, name if shlex.quote(name) == name else "REPORT")
    return text.replace(visible_text(folder), "the server's folder")
