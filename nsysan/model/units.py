"""How quantities are written for people: one spelling for text, page and findings.

GB is 10^9 bytes, as nccl-tests has it; times follow the Nsight Systems GUI, so that a reader finds them there.
"""

NS_PER_US = 1_000
NS_PER_MS = 1_000_000
NS_PER_S = 1_000_000_000
S_PER_HOUR = 3_600
HZ_PER_MHZ = 1_000_000
BITS_PER_BYTE = 8
TERA = 10**12
LEAST_SHOWN_FRAC = 0.001
"""The least share but zero that a percentage with one decimal shows."""

_DURATION_UNITS = ((NS_PER_S, "s"), (NS_PER_MS, "ms"), (NS_PER_US, "µs"))
_FLOP_UNITS = ((10**18, "EFLOP"), (10**15, "PFLOP"), (TERA, "TFLOP"), (10**9, "GFLOP"), (10**6, "MFLOP"))
_BYTE_UNITS = ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB"))


def format_duration(duration_ns: float) -> str:
    """A duration with three decimals in its natural unit: ``12.345 ms``, ``3.457 µs``, ``12 ns``."""
    return _scaled(duration_ns, _DURATION_UNITS, "ns")


def duration_unit(duration_ns: float) -> tuple[int, str]:
    """The unit ``format_duration`` chooses: its length in ns, and its name."""
    return _unit(duration_ns, _DURATION_UNITS, "ns")


def format_timestamp(time_ns: int) -> str:
    """A moment of the session as the GUI's ruler writes it, to the nanosecond: ``60.111541307s``."""
    sign = "-" if time_ns < 0 else ""
    seconds, rest_ns = divmod(abs(time_ns), NS_PER_S)
    return f"{sign}{seconds}.{rest_ns:09d}s"


def format_bytes(size_bytes: float) -> str:
    """A size in decimal units: ``7.195 GB``, ``272 B``."""
    return _scaled(size_bytes, _BYTE_UNITS, "B")


def format_rate(rate_bytes_per_s: float) -> str:
    """A transfer rate in decimal units per second: ``24.310 GB/s``."""
    return format_bytes(rate_bytes_per_s) + "/s"


def format_flop(flop: float) -> str:
    """A number of floating-point operations with three decimals in decimal units: ``50.331 GFLOP``, ``272 FLOP``."""
    return _scaled(flop, _FLOP_UNITS, "FLOP")


def format_flop_rate(rate_flop_per_s: float) -> str:
    """Floating-point operations per second in TFLOP/s, as data sheets have them: ``801.7 TFLOP/s``."""
    return f"{rate_flop_per_s / TERA:,.1f} TFLOP/s"


def format_clock(clock_hz: float) -> str:
    """A clock in whole MHz, as NVIDIA's tools have it: ``1,755 MHz``."""
    return f"{clock_hz / HZ_PER_MHZ:,.0f} MHz"


def format_fraction(fraction: float) -> str:
    """A fraction as a percentage with one decimal: ``0.0 %``, ``86.3 %``."""
    return f"{100 * fraction:.1f} %"


def rounds_to_zero(fraction: float) -> bool:
    """Whether its percentage shows nothing: it is less than ``LEAST_SHOWN_FRAC``, and perhaps not zero."""
    return format_fraction(fraction) == format_fraction(0)


def format_count(count: int) -> str:
    """A count with thousands separated: ``4,010``."""
    return f"{count:,}"


def counted(count: int, noun: str) -> str:
    """A count with its noun in the right number: ``1 gap``, ``2,365 gaps``, ``2 copies``."""
    if count != 1:
        noun = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith(("ch", "x")) else f"{noun}s"
    return f"{format_count(count)} {noun}"


def _scaled(value: float, units: tuple[tuple[int, str], ...], smallest: str) -> str:
    size, name = _unit(value, units, smallest)
    if size > 1:
        return f"{value / size:,.3f} {name}"
    return f"{value:.0f} {name}" if float(value).is_integer() else f"{value:.1f} {name}"


def _unit(value: float, units: tuple[tuple[int, str], ...], smallest: str) -> tuple[int, str]:
    # 999.9996 of a unit would be printed as 1000.000: it is given to the next larger one
    return next(((size, name) for size, name in units if abs(value) >= size * 0.9999995), (1, smallest))
