"""Ceilings as text for a terminal: what was measured, on what, and how two files differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from nsysan.hardware.curve_fit import fit_pieces
from nsysan.hardware.data_sheet_table import DataSheet
from nsysan.hardware.data_sheets import GpuFacts, sheet_of
from nsysan.hardware.merging import Figure
from nsysan.model.ceilings import Ceilings, CollectiveCurve, GemmCeiling, LinkCeiling, MeasuredGpu, Mode, Origin
from nsysan.model.units import counted, format_bytes, format_duration, format_flop_rate, format_fraction, format_rate
from nsysan.report.columns import drawn, wrapped
from nsysan.report.prose import capitalized, spelled

_SAME_FRAC = 0.02
"""Two measurements of one thing that are no further apart say the same."""
_FIT_PIECES = 3
_SMALL_BYTES = 1024


def render_ceilings(ceilings: Ceilings) -> str:
    """Everything a file tells, the best of each kind."""
    blocks = (
        [line for sentence in _about(ceilings) for line in wrapped(sentence)],
        _gemms(ceilings),
        _table(
            ("Device memory", "size", "rate"),
            (
                (one.pattern.value, format_bytes(one.size_bytes), format_rate(one.bytes_per_s))
                for one in ceilings.memory
            ),
        ),
        _table(("Link", "GPUs", "size", "slowest", "fastest"), _links(ceilings.links)),
        _table(
            ("Launch", "each"), ((spelled(one.launch.value), format_duration(one.each_ns)) for one in ceilings.launches)
        ),
        _table(("Collective", "small", "plateau (busbw)", "at", "points"), map(_curve, ceilings.collectives)),
        [line for sentence in _fits(ceilings) for line in wrapped(sentence)],
        _table(("Not measured", "why"), ((one.measurement, one.reason) for one in ceilings.waived)),
        [line for warning in ceilings.warnings for line in wrapped(f"Warning: {warning}")],
    )
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def render_differences(one: Mapping[str, Figure], other: Mapping[str, Figure]) -> str:
    """The figures of two files that are more than 2 % apart, and how many agree or are in one alone."""
    both = [key for key in one if key in other]
    apart = [key for key in both if abs(other[key].value / one[key].value - 1) > _SAME_FRAC]
    rows = [(key, _quantity(one[key]), _quantity(other[key]), _change(one[key], other[key])) for key in apart]
    alone = len(one) + len(other) - 2 * len(both)
    agree = f"{counted(len(both) - len(apart), 'figure')} within {format_fraction(_SAME_FRAC)} of each other"
    blocks = (
        _table(("Figure", "first", "second", "change"), rows),
        wrapped(f"{agree}; {counted(alone, 'figure')} in one file only."),
    )
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n"


def _about(ceilings: Ceilings) -> Iterator[str]:
    names = {gpu.name: sum(other.name == gpu.name for other in ceilings.gpus) for gpu in ceilings.gpus}
    gpus = ", ".join(name if count == 1 else f"{count} x {name}" for name, count in names.items())
    yield f"Ceilings of {gpus}: {ceilings.source}."
    if ceilings.origin is Origin.SIMULATED:
        yield "SIMULATED: nothing here was measured."
    versions = [f"{one.name} {one.version}" for one in ceilings.libraries if one.version]
    driver = [] if ceilings.driver_version is None else [f"driver {ceilings.driver_version}"]
    when = [] if ceilings.created_utc is None else [f"made {ceilings.created_utc}"]
    if told := [*when, *driver, *versions]:
        yield capitalized(", ".join(told)) + "."


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    body = list(rows)
    return drawn(heads, body) if body else []


def _gemms(ceilings: Ceilings) -> list[str]:
    """A line a data type and regime: its best product, and the share of the data sheet that it reaches."""
    sheet = _sheet(ceilings.gpus[0]) if ceilings.gpus else None

    def key(one: GemmCeiling) -> tuple[str, str]:
        return one.dtype.value, one.regime.value

    rows = []
    for (dtype, regime), group in groupby(sorted(ceilings.gemm, key=key), key):
        known = list(group)
        best = max(known, key=lambda one: one.flop_per_s)
        shape = f"{best.m} x {best.n} x {best.k}"
        rows.append(
            (f"{dtype}, {regime}", format_flop_rate(best.flop_per_s), _of_sheet(best, sheet), shape, str(len(known)))
        )
    return _table(("Matrix products", "best", "of data sheet", "m x n x k", "measured"), rows)


def _sheet(gpu: MeasuredGpu) -> DataSheet | None:
    return sheet_of(GpuFacts(gpu.name, gpu.sm_count))


def _of_sheet(best: GemmCeiling, sheet: DataSheet | None) -> str:
    promised = None if sheet is None else sheet.flop_per_s.get(best.dtype)
    return "not known" if promised is None else format_fraction(best.flop_per_s / promised)


def _links(links: Sequence[LinkCeiling]) -> Iterator[Sequence[str]]:
    def key(one: LinkCeiling) -> tuple[str, str, int]:
        return one.direction.value, "" if one.host_memory is None else one.host_memory.value, one.size_bytes

    for (direction, memory, size_bytes), group in groupby(sorted(links, key=key), key):
        rates = sorted(one.bytes_per_s for one in group)
        name = f"{spelled(direction)}, {memory}" if memory else spelled(direction)
        yield name, str(len(rates)), format_bytes(size_bytes), format_rate(rates[0]), format_rate(rates[-1])


def _curve(curve: CollectiveCurve) -> Sequence[str]:
    small = [point.each_ns for point in curve.points if point.size_bytes <= _SMALL_BYTES]
    rates = [point for point in curve.points if point.busbw_bytes_per_s is not None]
    best = max(rates, key=lambda point: point.busbw_bytes_per_s or 0.0, default=None)
    return (
        _named(curve),
        format_duration(min(small)) if small else "",
        "" if best is None else format_rate(best.busbw_bytes_per_s or 0.0),
        "" if best is None else format_bytes(best.size_bytes),
        str(len(curve.points)),
    )


def _named(curve: CollectiveCurve) -> str:
    nodes = "" if curve.node_count == 1 else f" on {counted(curve.node_count, 'node')}"
    driven = ["one process"] if curve.mode is Mode.ONE_PROCESS else []
    ways = [*driven, curve.dtype, spelled(curve.timing.value), *(["in place"] if curve.in_place else [])]
    return f"{spelled(curve.kind.value)}, {counted(curve.rank_count, 'rank')}{nodes}, {', '.join(ways)}"


def _fits(ceilings: Ceilings) -> Iterator[str]:
    """What was measured as few straight pieces; what was simulated is one."""
    if ceilings.origin is not Origin.SIMULATED:
        yield from (_fitted(curve) for curve in ceilings.collectives if len(curve.points) > _FIT_PIECES)


def _fitted(curve: CollectiveCurve) -> str:
    sizes, times_ns = zip(*((point.size_bytes, point.each_ns) for point in curve.points), strict=True)
    fit = fit_pieces(sizes, times_ns, _FIT_PIECES)
    pieces = "; ".join(
        f"to {format_bytes(piece.last_bytes)} {format_duration(piece.start_ns)}"
        + (f" + S / ({format_rate(1e9 / piece.ns_per_byte)})" if piece.ns_per_byte else "")
        for piece in fit.pieces
    )
    error = f"off by at most {format_fraction(fit.error_most_frac)}"
    return f"{_named(curve)}: {pieces} ({error})."


def _quantity(figure: Figure) -> str:
    if figure.unit == "FLOP/s":
        return format_flop_rate(figure.value)
    return format_rate(figure.value) if figure.unit == "B/s" else format_duration(figure.value)


def _change(one: Figure, other: Figure) -> str:
    return f"{100 * (other.value / one.value - 1):+.1f} %"
