"""The page: one file, no network."""

from __future__ import annotations

from nsysan.model.run import Run
from nsysan.report.renderers import Renderer


def render_html(run: Run) -> str:
    """The run as a self-contained HTML page; the same run gives the same bytes."""
    from nsysan.report.page import render_page

    return render_page(run)


RENDERER = Renderer("html", ".html", render_html)
