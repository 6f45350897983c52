"""The page: one file, no network, and in it every section that has something to say."""

from __future__ import annotations

from nsysan.model.run import Run
from nsysan.report.page import Footing, draw_page
from nsysan.report.renderers import Renderer
from nsysan.report.section import sections
from nsysan.report.verdict import state_verdict, subject_of
from nsysan.report.viewer import viewer_of


def render_page(run: Run) -> str:
    """The run as one self-contained HTML document; the same run gives the same bytes."""
    colophon = f"nsysan {run.nsysan_version}, run.json schema {run.schema_version}, made {run.created_utc} (UTC)"
    footing = Footing(colophon, viewer_of(run), "nsysan report run.json")
    return draw_page(f"{subject_of(run)}: {state_verdict(run).sentence}", sections(), run, footing)


RENDERER = Renderer(".html", render_page)
