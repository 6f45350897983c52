"""A scenario: a job with one cause that holds it back, and the same job without it."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from nsysan.model.errors import UsageError
from nsysan.model.registry import discover
from nsysan.model.verdicts import BottleneckClass
from nsysan.synth.training.job import DATA_PARALLEL, Parallelism
from nsysan.synth.training.knobs import Knobs


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """``cause`` names what holds the job back by the id a finding has, ``bottleneck_class`` its class.

    Both are None where nothing does. ``without`` is the same job with the cause taken away, or, of a sound twin, with
    what little it loses; None where there is nothing to take away. ``ranks_per_node`` are on one host where each rank
    has a file.
    """

    name: str
    summary: str
    knobs: Knobs
    parallelism: Parallelism = DATA_PARALLEL
    cause: str | None = None
    bottleneck_class: BottleneckClass | None = None
    without: Knobs | None = None
    least_rank_count: int = 1
    ranks_per_node: int = 8

    @property
    def spelling(self) -> str:
        """The name as the command line and files have it, with hyphens."""
        return self.name.replace("_", "-")

    def without_cause(self) -> Scenario:
        """The same job with its cause taken away. Raises UsageError where there is nothing to take away."""
        if self.without is None:
            raise UsageError(
                f"Nothing holds {self.spelling} back that could be taken away.", "Leave --without-cause out."
            )
        return replace(self, knobs=self.without, cause=None, bottleneck_class=None, without=None)


def all_scenarios() -> tuple[Scenario, ...]:
    """Every scenario, by name of its module."""
    from nsysan.synth import scenarios

    return discover(scenarios, "SCENARIO", Scenario)


def worked_scenarios() -> tuple[Scenario, ...]:
    """The jobs of the worked case, by name: several causes hold them back at once."""
    from nsysan.synth import worked_case

    return discover(worked_case, "SCENARIO", Scenario)


def find_scenario(name: str) -> Scenario:
    """The scenario of that name, dashes and underscores alike. Raises UsageError where there is none."""
    known = {scenario.name: scenario for scenario in (*all_scenarios(), *worked_scenarios())}
    found = known.get(name.replace("-", "_"))
    if found is None:
        raise UsageError(
            f"There is no scenario {name!r}.",
            f"Known are: {', '.join(scenario.spelling for scenario in known.values())}.",
        )
    return found
