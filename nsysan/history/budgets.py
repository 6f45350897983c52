"""What a gate lets through: ``[gate]`` of ``nsysan.toml``."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf, isfinite
from pathlib import Path

import msgspec

from nsysan.model.errors import InputError, MissingToolError
from nsysan.model.text import visible_text


class Budget(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is asked of a figure, values in its own unit (ns, bytes, shares from 0 to 1).

    A loss counts where it exceeds ``relative`` x the baseline's median, ``absolute``, and the noise. ``most`` and
    ``least`` bound the figure itself. ``spread`` is the relative standard deviation of repeats where that is known
    better than the baseline's repeats tell it.
    """

    relative: float = 0.01
    absolute: float = 0.0
    spread: float | None = None
    most: float | None = msgspec.field(name="max", default=None)
    least: float | None = msgspec.field(name="min", default=None)

    def __post_init__(self) -> None:
        # a share over 1 is a percentage most likely, and lets everything pass
        if not all(0 <= share <= 1 for share in (self.relative, self.spread or 0.0)):
            raise ValueError("relative and spread are shares from 0 to 1")
        if not 0 <= self.absolute < inf:
            raise ValueError("absolute is an amount from 0 on")
        # nothing exceeds nan, so a bound that is none would never fail
        if not all(bound is None or isfinite(bound) for bound in (self.most, self.least)):
            raise ValueError("max and min are finite numbers")
        if self.least is not None and self.most is not None and self.least > self.most:
            raise ValueError("nothing lies between a min and a max that is less")


class Budgets(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The figures that are judged, by id; where there are none, the step, or without steps how busy computing was.

    ``false_alarm`` is how often a gate may fail although nothing changed; a baseline older than ``max_age_days`` is
    warned about.
    """

    figures: dict[str, Budget] = msgspec.field(default_factory=dict)
    false_alarm: float = 0.005
    max_age_days: int = 90

    def __post_init__(self) -> None:
        if not 0.001 <= self.false_alarm <= 0.5:  # noqa: PLR2004 - what the simulated draws can tell, and a coin
            raise ValueError("false_alarm is a share from 0.001 to 0.5")
        if self.max_age_days < 0:
            raise ValueError("max_age_days is a count from 0 on")


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Nothing else stands in the file: a table of another name would be a budget that is lost."""

    gate: Budgets = msgspec.field(default_factory=Budgets)


DEFAULT_FIGURES: tuple[Mapping[str, Budget], ...] = (
    {"step.mean": Budget()},
    {"baseline.compute_busy_frac": Budget(absolute=0.01)},
)
"""Judged where no budget says otherwise: the first that all runs of the baseline know."""


def read_budgets(path: Path) -> Budgets:
    """The budgets in the file. Raises InputError where it cannot be read or says what no budget can."""
    name = visible_text(str(path))
    try:
        return msgspec.toml.decode(path.read_bytes(), type=_File).gate
    except OSError as error:
        raise InputError(f"Cannot read {name}: {error.strerror}.", "Name the budgets with --budgets.") from error
    except ImportError as error:
        raise MissingToolError(
            "Reading TOML needs tomli before Python 3.11.", "Install it with: pip install 'nsysan[history]'"
        ) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{name} holds no budgets: {error}.", "What may stand there: docs/comparing.md.") from error
