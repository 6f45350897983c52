"""The model that ``--model`` names: a file, and keys that it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nsysan.model.errors import InputError
from nsysan.model.text import visible_text
from nsysan.planning.model_config import parse_extra, parse_model
from nsysan.planning.model_shape import ModelShape

LARGEST_BYTES = 1 << 24


def model_path(argument: str) -> Path:
    """The file of ``FILE[,KEY=VALUE...]``."""
    return Path(argument.split(",", maxsplit=1)[0])


def read_model(argument: str) -> ModelShape:
    """The model of ``FILE[,KEY=VALUE...]``. Raises InputError where the file cannot be read or describes none."""
    return read_model_file(model_path(argument), argument.split(",")[1:])


def read_model_file(path: Path, pieces: Sequence[str]) -> ModelShape:
    """The model of the file, with keys that it lacks as ``KEY=VALUE``. Raises InputError as ``read_model``."""
    shown = visible_text(str(path))
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise InputError(f"{shown} is too large to describe a model.", "Give a config.json.")
        text = path.read_text("utf-8-sig", "replace")
    except OSError as error:
        raise InputError(f"Cannot read {shown}: {error.strerror}.", "Give the path of a config.json.") from error
    try:
        return parse_model(text, parse_extra(list(pieces)))
    except InputError as error:
        raise InputError(f"{shown}: {error.message}", error.hint) from error
