"""A comparison in sentences, the first of them to repeat in a meeting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.analysis.collective_figures import COLLECTIVE_RUNS, COLLECTIVE_TRANSFERS, COLLECTIVE_WAITS
from nsysan.analysis.kernel_summary import KERNEL_RUNS
from nsysan.analysis.step_kernels import STEP_KERNEL_RUNS, STEP_KERNELS
from nsysan.attribution.kernel_class import function_name
from nsysan.history.comparison import Comparison, Obstacle, OneSided
from nsysan.history.differences import Difference
from nsysan.history.snapshot import KeptFinding
from nsysan.model.figures import Unit
from nsysan.model.units import counted, format_fraction
from nsysan.report.comparison.kernels import communicates, is_told_apart, other_work, shape_clause
from nsysan.report.comparison.quantities import UNKNOWN, quantity, signed
from nsysan.report.prose import capitalized, ended, listed, paired, spelled

LEAST_FRAC = 0.01
"""A change of less of the whole is not worth a word."""
_MOST_CARRIERS = 4
_MOST_KERNELS = 2
_MOST_COLLECTIVES = 2
_LEAST_OF_WINDOW_FRAC = 0.001


def state_comparison(comparison: Comparison) -> str:
    """The one sentence: how much the step changed, and what carries that."""
    whole = comparison.whole
    if whole is None:
        return f"These runs cannot be compared: {_why_not(comparison)}"
    carried = _carried(comparison, whole)
    if whole.unit is not Unit.NS:
        return f"Of the window, {carried}" if carried else "The window is shared out as before"
    takes = _takes(whole)
    return f"{takes}: {carried}" if carried else takes


def sentences_of(comparison: Comparison) -> tuple[str, ...]:
    """What else to know: what kind of comparison it is, kernels, what is not the same, findings."""
    return tuple(
        ended(sentence)
        for sentence in (
            *_about_obstacles(comparison.forbidding),
            *_about_whole(comparison),
            *_about_kernels(comparison),
            *_about_collectives(comparison),
            *_about_findings(comparison),
        )
    )


def obstacle_sentence(obstacle: Obstacle) -> str:
    """What differs: ``GPU model: NVIDIA A100 before, NVIDIA H100 after``."""
    before, after = obstacle.before or UNKNOWN, obstacle.after or UNKNOWN
    return f"{obstacle.name}: {before} before, {after} after"


def one_sided_sentence(entry: OneSided) -> str:
    """What one run does not answer, and why not."""
    return f"{spelled(entry.id)}, not known {entry.missing_in}: {entry.reason}"


def _why_not(comparison: Comparison) -> str:
    reasons = [f"{one.missing_in}, {one.reason}" for one in comparison.one_sided if one.id in ("gpu_time", "steps")]
    return reasons[0] if reasons else "neither run knows where its time went"


def _takes(whole: Difference) -> str:
    """How much longer the step takes, before its carriers."""
    before, after = quantity(whole.before, whole.unit), quantity(whole.after, whole.unit)
    if whole.is_noise:
        noise = quantity(whole.noise, whole.unit)
        return (
            f"The mean step takes as long as before, {paired(before, 'and now', after)}, up to the {noise} that "
            "means of such steps differ by chance"
        )
    more = "more" if (whole.change or 0.0) > 0 else "less"
    share = format_fraction(abs(whole.change_frac or 0.0))
    return f"The mean step takes {share} {more} time, {paired(after, 'instead of', before)}"


def _carried(comparison: Comparison, whole: Difference) -> str:
    """The largest changes of what the whole consists of, and what the others come to."""
    least = LEAST_FRAC * (whole.before or 0.0)
    named = [piece for piece in comparison.carriers if abs(piece.change or 0.0) >= least][:_MOST_CARRIERS]
    if not named:
        return ""
    rest = sum(piece.change or 0.0 for piece in comparison.carriers if piece not in named)
    told = [f"{piece.name} {signed(piece.change or 0.0, piece.unit)}" for piece in named]
    if abs(rest) >= least:
        told.append(f"the rest {signed(rest, whole.unit)}")
    return ", ".join(told)


def _about_whole(comparison: Comparison) -> Iterator[str]:
    whole = comparison.whole
    if whole is None or whole.unit is Unit.NS:
        return
    steps = next((one for one in comparison.one_sided if one.id == "steps"), None)
    of_which = (
        "in neither run"
        if steps is None
        else f"in the run {'after' if steps.missing_in == 'before' else 'before'} only"
    )
    yield (
        f"Steps are known {of_which}, so no time a step can be compared: shares of the window say nothing about how "
        "much was done in it"
    )
    most = next(iter(comparison.topic(KERNEL_RUNS.id)), None)
    windows = next(iter(comparison.topic("window")), None)
    if most is not None and most.change and windows is not None:
        runs = f"{quantity(most.after, most.unit)} times instead of {quantity(most.before, most.unit)}"
        lengths = paired(quantity(windows.after, windows.unit), "instead of", quantity(windows.before, windows.unit))
        yield f"The kernel that took most time before, {function_name(most.name)}, ran {runs}, in windows of {lengths}"


def _about_kernels(comparison: Comparison) -> Iterator[str]:
    """The kernels whose time a step changed by over a hundredth of it, the largest change first.

    Those that communicate spend their time waiting as well: they are told apart below, or here with a word on it.
    """
    whole = comparison.whole
    if whole is None or whole.unit is not Unit.NS:
        return
    if other := other_work(comparison):
        yield other
    runs = {one.key: one for one in comparison.topic(STEP_KERNEL_RUNS.id)}
    apart = is_told_apart(comparison)
    kernels = [one for one in comparison.topic(STEP_KERNELS.id) if not (apart and communicates(one.name))]
    for kernel in sorted(kernels, key=lambda one: -abs(one.moved))[:_MOST_KERNELS]:
        if abs(kernel.moved) >= LEAST_FRAC * (whole.before or 0.0):
            change = signed(kernel.moved, kernel.unit)
            waits = ", waiting for other ranks in it" if communicates(kernel.name) else ""
            told = f"{change} a step{_runs(runs.get(kernel.key))}{shape_clause(comparison, kernel)}{waits}"
            yield f"Kernel {function_name(kernel.name)}: {told}"


def _about_collectives(comparison: Comparison) -> Iterator[str]:
    """Transfer apart from waiting, of the collectives that took most time before: only transfer is the network's.

    Those of which all together changed by less than a thousandth of the window are not worth a word.
    """
    waits = {one.key: one for one in comparison.topic(COLLECTIVE_WAITS.id)}
    both = [one for one in comparison.topic(COLLECTIVE_TRANSFERS.id) if one.change is not None]
    for transfer in both[:_MOST_COLLECTIVES]:
        wait = waits.get(transfer.key)
        told = [transfer] if wait is None or wait.change is None else [transfer, wait]
        if any(_matters(comparison, one) for one in told):
            figures = zip(("transfer", "wait a rank"), told, strict=False)
            yield f"{capitalized(transfer.name)}: {', '.join(f'{name} {_instead(one)}' for name, one in figures)}"


def _matters(comparison: Comparison, one: Difference) -> bool:
    """Whether a collective's change is one of its own size, and all of them together are one of the window's."""
    runs = next((runs for runs in comparison.topic(COLLECTIVE_RUNS.id) if runs.key == one.key), None)
    windows = next(iter(comparison.topic("window")), None)
    if not one.moved or abs(one.moved) < LEAST_FRAC * abs(one.before or 0.0):
        return False
    if runs is None or windows is None:
        return True
    return abs(one.moved) * (runs.after or 0.0) >= _LEAST_OF_WINDOW_FRAC * (windows.after or 0.0)


def _instead(one: Difference) -> str:
    after, before = quantity(one.after, one.unit), quantity(one.before, one.unit)
    return f"{after} as before" if after == before else paired(after, "instead of", before)


def _runs(runs: Difference | None) -> str:
    if runs is None:
        return ""
    before, after = quantity(runs.before or 0.0, runs.unit), quantity(runs.after or 0.0, runs.unit)
    noun = "run" if after == "1" else "runs"
    return f", {after} {noun} as before" if before == after else f", {after} {noun} instead of {before}"


def _about_obstacles(forbidding: Sequence[Obstacle]) -> Iterator[str]:
    if forbidding:
        names = listed([obstacle.name for obstacle in forbidding])
        yield f"Take care, these runs differ in what they ran on or recorded: {names}"
        yield from (capitalized(obstacle_sentence(obstacle)) for obstacle in forbidding)


def _about_findings(comparison: Comparison) -> Iterator[str]:
    changes = comparison.findings
    for verb, findings in (("solved", changes.solved), ("new", changes.new)):
        if findings:
            yield f"{capitalized(counted(len(findings), 'finding'))} {verb}: {_titles(findings)}"
    for side, other, findings in (("before", "after", changes.before_only), ("after", "before", changes.after_only)):
        if findings:
            why = "these runs differ too much" if _is_unlike(comparison) else f"the run {other} does not answer that"
            word = "solved" if side == "before" else "new"
            yield (
                f"{capitalized(counted(len(findings), 'finding'))} {side} only, which is not to say {word}, for {why}: "
                f"{_titles(findings)}"
            )


def _is_unlike(comparison: Comparison) -> bool:
    return comparison.whole is None or bool(comparison.forbidding)


def _titles(findings: Sequence[KeptFinding]) -> str:
    return "; ".join(one.title for one in findings)  # titles have commas of their own
