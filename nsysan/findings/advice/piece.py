"""A piece of advice: what to do, for which causes, and when."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nsysan.findings.advice.situation import Situation
from nsysan.model.verdicts import BottleneckClass


def always(_situation: Situation) -> bool:
    """For jobs of every kind."""
    return True


def when_named(_situation: Situation) -> bool:
    """Never by the job alone: the rule that finds the cause knows which of its advice applies."""
    return False


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    """``sentence`` says what to do, ``only_if`` what must be so and no trace tells; ``holds`` judges the rest.

    ``bottleneck_class`` narrows causes that several classes have, as copies.
    """

    id: str
    causes: frozenset[str]
    sentence: str
    only_if: str | None = None
    bottleneck_class: BottleneckClass | None = None
    holds: Callable[[Situation], bool] = always

    @property
    def spoken(self) -> str:
        """The advice as it is printed."""
        return self.sentence if self.only_if is None else f"{self.sentence} Only if {self.only_if}."

    def follows_from(self, cause: str, bottleneck_class: BottleneckClass | None) -> bool:
        """Whether it is advice about this cause of this class."""
        return cause in self.causes and self.bottleneck_class in {None, bottleneck_class}
