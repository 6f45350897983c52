"""A gate's verdict for a terminal or a log: what failed first, then what carries it, then every figure."""

from __future__ import annotations

from collections.abc import Iterator

from nsysan import __version__
from nsysan.history.comparison import Obstacle
from nsysan.history.gate import GateResult
from nsysan.history.judgement import Judgement, Outcome
from nsysan.model.figures import Bearing
from nsysan.model.units import format_fraction
from nsysan.report.columns import drawn, wrapped
from nsysan.report.comparison.quantities import quantity, signed
from nsysan.report.comparison.sentences import obstacle_sentence, sentences_of, state_comparison
from nsysan.report.prose import capitalized, ended, listed

HEADS = ("Figure", "baseline", "repeats", "now", "change", "limit", "")


def render_gate(result: GateResult) -> str:
    """Sentences, then a row a figure."""
    paragraphs = (sentence for sentence in gate_sentences(result))
    rows = [cells_of(one) for one in result.judgements]
    blocks = (
        [line for paragraph in paragraphs for line in wrapped(paragraph)],
        drawn(HEADS, rows),
        [f"Written by nsysan {__version__}."],
    )
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def gate_sentences(result: GateResult) -> Iterator[str]:
    """The verdict, what carries a loss, why something could not be judged, what is not the same, and warnings."""
    yield ended(_verdict(result))
    yield from (ended(capitalized(obstacle_sentence(obstacle))) for obstacle in result.refusals)
    if result.outcome is Outcome.FAILED:
        yield ended(state_comparison(result.comparison))
        yield from sentences_of(result.comparison)
    yield from (ended(f"{capitalized(one.name)}: {one.why}") for one in result.judgements if one.why)
    yield from (ended(f"Not the same: {obstacle_sentence(one)}") for one in _cautions(result))
    yield from (ended(f"Warning: {warning}") for warning in result.warnings)


def _cautions(result: GateResult) -> Iterator[Obstacle]:
    """What else differs between the runs compared."""
    refused = {obstacle.id for obstacle in result.refusals}
    for obstacle in result.comparison.obstacles:
        if obstacle.bearing is Bearing.CAUTIONS and obstacle.id not in refused:
            yield obstacle


def _verdict(result: GateResult) -> str:
    against = f"against {result.baseline}"
    if result.refusals:
        return f"Cannot judge {against}: the runs tell of different things"
    if result.outcome is Outcome.FAILED:
        failed = [failed_sentence(one) for one in result.judgements if one.outcome is Outcome.FAILED]
        return f"Failed {against}: {listed(failed)}"
    if result.outcome is Outcome.UNDECIDED:
        names = [one.name for one in result.judgements if one.outcome is Outcome.UNDECIDED]
        return f"Cannot judge {against}: {listed(names)}"
    return f"Passed {against}: no loss beyond what is allowed and what chance does"


def failed_sentence(one: Judgement) -> str:
    """What the figure has lost, as far as that is known."""
    if one.limit is None or not one.before or one.loss is None:
        return one.name
    return f"{one.name} has lost {format_fraction(one.loss / abs(one.before))}, {quantity(one.loss, one.unit)}"


def cells_of(one: Judgement) -> tuple[str, ...]:
    """What stands under ``HEADS`` of a figure."""
    change = None if one.after is None or one.before is None else one.after - one.before
    return (
        one.figure,
        "" if one.before is None else quantity(one.before, one.unit),
        str(one.repeat_count),
        "" if one.after is None else quantity(one.after, one.unit),
        "" if change is None else signed(change, one.unit),
        "" if one.limit is None else signed(one.limit, one.unit).lstrip("+"),
        one.outcome.value,
    )
