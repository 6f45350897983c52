"""A comparison as a page: the look and templates of a run's page, on two runs."""

from __future__ import annotations

from nsysan import __version__
from nsysan.history.comparison import Comparison
from nsysan.model.registry import discover
from nsysan.report.comparison.sentences import state_comparison
from nsysan.report.page import Footing, draw_page
from nsysan.report.prose import listed
from nsysan.report.section import Section


def render_page(comparison: Comparison) -> str:
    """The comparison as one self-contained HTML document; the same comparison gives the same bytes."""
    made = f"run.json of {comparison.before.created_utc} and {comparison.after.created_utc} (UTC)"
    footing = Footing(f"nsysan {__version__}, {made}", "each report's own session", "nsysan compare A B")
    title = f"{listed(comparison.after.reports)}: {state_comparison(comparison)}"
    return draw_page(title, comparison_sections(), comparison, footing)


def comparison_sections() -> tuple[Section[Comparison], ...]:
    """Every section of the page, in reading order."""
    from nsysan.report.comparison import sections as package

    return tuple(sorted(discover(package, "SECTION", Section), key=lambda section: section.order))
