"""What people said of a run that no file of it tells: its model, and which rank each report is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from nsysan.attribution.collectives.ranks import RankChoice, parse_ranks
from nsysan.model.errors import InputError, UsageError
from nsysan.model.text import display_text, visible_text
from nsysan.pipeline.model_file import read_model_file
from nsysan.planning.model_shape import ModelShape
from nsysan.service.unpacking.entry_names import Unpacked


def said_model(said: str, found: Sequence[Unpacked], models: Sequence[Unpacked]) -> ModelShape | None:
    """The model of ``[FILE][,KEY=VALUE...]``, where no file is named the one that describes a model.

    None where there is none and nothing was said. Raises InputError where the file is not there, is one of several, or
    describes no model.
    """
    names, keys = (_pieces(said, has_value=has_value) for has_value in (False, True))
    described = [file for file in found if file.name == names[0]] if names else list(models)
    if not described and not names and not keys:
        return None
    if len(described) != 1 or len(names) > 1:
        raise InputError(_why_no_model(names, described), "Upload one config.json, and name it: config.json,KEY=VALUE.")
    return read_model_file(described[0].path, keys)


def named_model(said: str) -> str | None:
    """The file that ``[FILE][,KEY=VALUE...]`` names, if it does."""
    return next(iter(_pieces(said, has_value=False)), None)


def _pieces(said: str, *, has_value: bool) -> list[str]:
    return [piece.strip() for piece in said.split(",") if piece.strip() and ("=" in piece) is has_value]


def _why_no_model(names: Sequence[str], described: Sequence[Unpacked]) -> str:
    if names:
        return f"There is not one file {display_text(names[0])} to describe the model."
    if described:
        return f"More than one file describes a model: {', '.join(display_text(file.name) for file in described)}."
    return "Keys of a model were given, and no file describes one."


def said_ranks(said: Mapping[str, str], found: Sequence[Unpacked]) -> RankChoice:
    """The ranks of ``FILE=RANK,...`` by our names of the files, and how many ranks the job has.

    Raises UsageError where they are no such thing, or where a name is that of several files.
    """
    given = parse_ranks(said["ranks"]) if said.get("ranks") else {}
    size = said.get("world_size", "")
    if size and not (size.isascii() and size.isdecimal() and int(size[:9]) > 0):
        raise UsageError(f"The world size {visible_text(size)!r} is no number of ranks.", "Give how many there are.")
    ours: dict[str, list[Path]] = {}
    for file in found:
        ours.setdefault(file.name, []).append(file.path)
    if twice := [name for name in given if len(ours.get(name, ())) > 1]:
        raise UsageError(f"Several files are called {display_text(twice[0])}.", "Give each report a name of its own.")
    ranks = {ours[name][0].name if name in ours else name: rank for name, rank in given.items()}
    return RankChoice(ranks, int(size) if size else None)
