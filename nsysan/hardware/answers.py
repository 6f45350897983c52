"""How a ceiling was found, which every report says beside it."""

from __future__ import annotations

from enum import Enum

import msgspec

from nsysan.model.ceilings import Ceilings, Origin


class Level(str, Enum):
    """From the surest on: this very thing was measured, its neighbours were, or only what bounds it is known."""

    EXACT = "exact"
    INTERPOLATED = "interpolated"
    PLATEAU = "plateau"
    """Larger than anything measured: the rate that large ones reach."""
    SCALED = "scaled"
    """Measured with another number of ranks of the same node."""
    ROOFLINE = "roofline"
    """The measured peak of the data type, or the measured memory rate, whichever binds."""
    DATA_SHEET = "data_sheet"


class Ceiling(msgspec.Struct, frozen=True):
    """A rate (per second) that the hardware reaches, how that is known, and from what."""

    rate: float
    level: Level
    source: str

    @property
    def is_measured(self) -> bool:
        """Whether anything of it was measured: what exceeds it then shows that it, or the trace, is wrong."""
        return self.level is not Level.DATA_SHEET


def spelled_level(ceiling: Ceiling) -> str:
    """How the ceiling is known, in words."""
    return ceiling.level.value.replace("_", " ")


def named(ceilings: Ceilings, what: str) -> str:
    """``what``, with the word that says where the file has it from."""
    return f"{_ORIGINS[ceilings.origin]} {what}"


def names_a_measurement(source: str) -> bool:
    """Whether a ceiling of that source was measured, here or by others; it is simulated or a data sheet's otherwise."""
    return source.startswith(_ORIGINS[Origin.MEASURED])


_ORIGINS = {
    Origin.MEASURED: "measured",
    Origin.IMPORTED: "measured (imported)",
    Origin.SIMULATED: "simulated, not measured:",
}
