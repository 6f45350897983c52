"""What reads the output of another benchmark, and which there are: each module here that declares ``IMPORTER``."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

import nsysan.ingest.benchmarks
from nsysan.model.ceilings import Ceilings
from nsysan.model.registry import discover


class Importer(msgspec.Struct, frozen=True):
    """``read`` returns the ceilings in a text, None where it is not of this ``tool``.

    Its second argument is the name of the GPU as the user gives it, for outputs that do not tell; it raises UsageError
    where neither does.
    """

    tool: str
    read: Callable[[str, str | None], Ceilings | None]


def importers() -> tuple[Importer, ...]:
    """Every importer."""
    return discover(nsysan.ingest.benchmarks, "IMPORTER", Importer)
