"""The ways a run is written down, found in ``formats/``."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

import msgspec

from nsysan.model.registry import discover
from nsysan.report import formats

if TYPE_CHECKING:  # the command line lists the formats at start-up, and a Run brings numpy with it
    from nsysan.model.run import Run


class Renderer(msgspec.Struct, frozen=True):
    """A format: what its files end in, and the function that writes a run in it."""

    suffix: str
    render: Callable[[Run], str]


def renderer_ids() -> tuple[str, ...]:
    """The ids of all formats, which are the names of their modules, without importing them."""
    return tuple(sorted(module.name for module in pkgutil.iter_modules(formats.__path__)))


def renderer(format_id: str) -> Renderer:
    """The format of this id, which must be one of ``renderer_ids``."""
    found: Renderer = import_module(f"{formats.__name__}.{format_id}").RENDERER
    return found


def renderers() -> dict[str, Renderer]:
    """Every format by its id."""
    return dict(zip(renderer_ids(), discover(formats, "RENDERER", Renderer), strict=True))
