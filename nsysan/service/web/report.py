"""A report's page as it was made, in a sandbox: whatever it held, it could reach nothing of this server."""

from __future__ import annotations

import html
import re
from pathlib import Path

from starlette.responses import FileResponse, Response

from nsysan.service.refusals import NotThere
from nsysan.service.web.server import Server
from nsysan.service.work.order import PAGE

_HEAD_BYTES = 4096
_POLICY = re.compile(rb'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_SANDBOX = "sandbox allow-scripts; frame-ancestors 'none'"
_NOTHING = "default-src 'none'; style-src 'unsafe-inline'"


def report_answer(server: Server, report: str) -> Response:
    """The page. Raises NotThere where it is gone."""
    path = server.folder.reports / report / PAGE
    if not path.is_file():
        raise NotThere("The report is gone.", "Analyse the run again.")
    policy = f"{_own_policy(path)}; {_SANDBOX}"
    headers = {"content-security-policy": policy, "referrer-policy": "no-referrer"}
    return FileResponse(path, media_type="text/html", headers=headers)


def _own_policy(path: Path) -> str:
    """The policy that the page states of itself before anything of a trace: its own style and script, by hash."""
    with path.open("rb") as file:
        found = _POLICY.search(file.read(_HEAD_BYTES))
    return _NOTHING if found is None else html.unescape(found[1].decode("ascii", "replace"))
