"""How often the gate fails although nothing changed, and how often it catches a true loss: the tables in the docs.

Every run is a step time drawn from a normal distribution; every draw is judged by the gate itself, with its defaults.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

from nsysan.history.budgets import Budgets
from nsysan.history.gate import judge
from nsysan.history.judgement import Outcome
from nsysan.history.snapshot import Snapshot
from nsysan.model.figures import Better, Figure, Topic, Unit

DRAWS = 10_000
STEP_NS = 100_000_000
SPREADS = (0.003, 0.005, 0.01, 0.02)
SIZES = ((6, 1), (8, 1), (10, 1), (20, 1), (8, 3), (10, 3), (8, 8), (20, 5))


def fail_share(sizes: tuple[int, int], spread: float, loss: float, draws: int = DRAWS) -> float:
    """The share of draws in which the gate fails: ``sizes`` repeats and new runs, these slower by ``loss``."""
    source = random.Random(f"{sizes} {spread} {loss}")

    def runs(count: int, slower: float) -> list[Snapshot]:
        return [_run(STEP_NS * slower * (1 + source.gauss(0, spread))) for _ in range(count)]

    failed = (judge("main", runs(sizes[0], 1), runs(sizes[1], 1 + loss), Budgets()).outcome for _ in range(draws))
    return sum(outcome is Outcome.FAILED for outcome in failed) / draws


def _run(step_ns: float) -> Snapshot:
    step = Figure(Topic("step", "The steps"), "mean", "step", step_ns, Unit.NS, Better.LESS)
    return Snapshot(("a",), "2026-01-01T00:00:00Z", "0", (step,), (), (), ())


def tables() -> Iterator[str]:
    """Both tables in Markdown: a row a size, a column a spread of repeats."""
    for loss in (0.0, 0.03):
        yield f"| repeats, new runs | {' | '.join(f'spread {100 * spread:g} %' for spread in SPREADS)} |\n"
        yield f"|---|{'---|' * len(SPREADS)}\n"
        for sizes in SIZES:
            shares = (f"{100 * fail_share(sizes, spread, loss):.1f} %" for spread in SPREADS)
            yield f"| {sizes[0]}, {sizes[1]} | {' | '.join(shares)} |\n"
        yield "\n"


if __name__ == "__main__":
    sys.stdout.writelines(tables())
