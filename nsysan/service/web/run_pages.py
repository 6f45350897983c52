"""Pages about runs: the list, one run with what may be done with it, and its report in a sandbox."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from nsysan.model.units import counted, format_bytes
from nsysan.report.prose import ended
from nsysan.service.clock import seconds_between, shown_utc
from nsysan.service.people import LOCAL, Person
from nsysan.service.refusals import Conflict, NotThere, Refusal
from nsysan.service.runs import RunFile, ServedRun, Sought, State
from nsysan.service.web.answers import json_answer, page_answer
from nsysan.service.web.bodies import form
from nsysan.service.web.events import doing_sentence
from nsysan.service.web.figures import FIGURE_NAMES, figures_of
from nsysan.service.web.report import report_answer
from nsysan.service.web.server import Server, server_of
from nsysan.service.web.views import DeleteView, ListView, Page, RunView, ShownFile, ShownShare, rows_of
from nsysan.service.web.visitors import CSRF_HEADER, Visitor, check_form, demand_uploader, demand_visitor
from nsysan.service.work.order import RUN_JSON

RUNS_A_PAGE = 50
_DAY_S = 24 * 3600.0
_LONGEST_SHARE_DAYS = 365


def page_for(visitor: Visitor, server: Server, title: str, view: object) -> Page:
    """A page with this view, for this visitor."""
    return Page(title, visitor.person, view, visitor.csrf or "", has_log_out=server.needs_tokens)


async def list_runs(request: Request) -> Response:
    """``GET /``: the runs that this person sees, as sought."""
    visitor, server = await demand_visitor(request), server_of(request)
    view = await run_in_threadpool(_list_view, request, server, visitor.person)
    return page_answer(page_for(visitor, server, "Runs", view), "runs.html")


async def list_as_json(request: Request) -> Response:
    """``GET /api/runs``: the same for programs."""
    visitor, server = await demand_visitor(request), server_of(request)
    first = first_asked(request)
    runs, total = await run_in_threadpool(server.runs.listed, visitor.person, _sought(request), first, RUNS_A_PAGE)
    return json_answer({"runs": [run_as_json(run) for run in runs], "first": first, "total": total})


async def show_run(request: Request) -> Response:
    """``GET /runs/ID``: one run."""
    visitor, server = await demand_visitor(request), server_of(request)
    run = await _run(request, server, visitor)
    return await _run_answer(server, visitor, run)


async def run_json_state(request: Request) -> Response:
    """``GET /api/runs/ID``: the same for programs."""
    visitor, server = await demand_visitor(request), server_of(request)
    run = await _run(request, server, visitor)
    return json_answer(run_as_json(run) | {"doing": await run_in_threadpool(doing_sentence, server, run)})


async def show_report(request: Request) -> Response:
    """``GET /runs/ID/report``: the report's own page."""
    visitor, server = await demand_visitor(request), server_of(request)
    run = await _run(request, server, visitor)
    if run.report is None:
        raise NotThere("This run has no report.", "Look at the run's page for why.")
    return await run_in_threadpool(report_answer, server, run.report)


async def show_shared(request: Request) -> Response:
    """``GET /s/SECRET``: the report that a link shows, to anybody."""
    server = server_of(request)
    report = await run_in_threadpool(server.shares.report_behind, request.path_params["secret"])
    return await run_in_threadpool(report_answer, server, report)


async def give_run_json(request: Request) -> Response:
    """``GET /runs/ID/run.json``: what programs read of it."""
    visitor, server = await demand_visitor(request), server_of(request)
    run = await _run(request, server, visitor)
    if run.report is None:
        raise NotThere("This run has no run.json.", "Look at the run's page for why.")
    return FileResponse(server.folder.reports / run.report / RUN_JSON, filename=RUN_JSON, media_type="application/json")


async def give_file(request: Request) -> Response:
    """``GET /runs/ID/files/PLACE``: a capture as it was uploaded. Raises Refusal for whoever only reads."""
    visitor, server = await demand_visitor(request), server_of(request)
    run = await _run(request, server, visitor)
    if not visitor.person.may_upload:
        raise Refusal("Captures hold secrets: readers do not get them.", "Ask whoever uploaded it.", status=403)
    files = await run_in_threadpool(server.runs.files, run.id)
    file = next((file for file in files if file.place == request.path_params["place"]), None)
    if file is None or not file.is_kept:
        raise NotThere("This file is not kept.")
    await run_in_threadpool(server.audit.record, visitor.person, visitor.address, "took capture", run.id, file.name)
    path = server.folder.capture(file.sha256)
    return FileResponse(path, filename=file.name, media_type="application/octet-stream")


async def ask_to_delete(request: Request) -> Response:
    """``GET /runs/ID/delete``: the question."""
    visitor, server = await demand_visitor(request), server_of(request)
    run = await _run(request, server, visitor)
    files = await run_in_threadpool(server.runs.files, run.id)
    view = DeleteView(run, counted(len(files), "file"))
    return page_answer(page_for(visitor, server, f"Delete {run.described.title}?", view), "delete.html")


async def delete(request: Request) -> Response:
    """``POST /runs/ID/delete`` and ``DELETE /api/runs/ID``: the run is gone."""
    visitor, server, _ = await _changing(request)
    run = await _run(request, server, visitor)
    await run_in_threadpool(server.runs.delete, run)
    await server.runner.interrupt(run.id)
    await run_in_threadpool(
        server.audit.record, visitor.person, visitor.address, "deleted", run.id, run.described.title
    )
    return RedirectResponse("/", 303) if request.method == "POST" else Response(status_code=204)


async def cancel(request: Request) -> Response:
    """``POST /runs/ID/cancel``: its analysis ends."""
    visitor, server, _ = await _changing(request)
    run = await _run(request, server, visitor)
    await run_in_threadpool(server.runs.cancel, run)
    await server.runner.interrupt(run.id)
    await run_in_threadpool(server.audit.record, visitor.person, visitor.address, "cancelled", run.id)
    return RedirectResponse(f"/runs/{run.id}", 303)


async def retry(request: Request) -> Response:
    """``POST /runs/ID/retry``: it waits again."""
    visitor, server, _ = await _changing(request)
    run = await _run(request, server, visitor)
    await run_in_threadpool(server.runs.retry, run)
    server.runner.wake()
    await run_in_threadpool(server.audit.record, visitor.person, visitor.address, "retried", run.id)
    return RedirectResponse(f"/runs/{run.id}", 303)


async def share(request: Request) -> Response:
    """``POST /runs/ID/shares``: a link to the report, shown this once."""
    visitor, server, fields = await _changing(request)
    run = await _run(request, server, visitor)
    given = fields.get("days", "")
    if not given.isdecimal() or not 1 <= int(given[:4]) <= _LONGEST_SHARE_DAYS:
        raise Refusal("A link lasts from 1 to 365 days.", "Say for how many.")
    if run.state is not State.DONE:
        raise Conflict("There is no report to share yet.", "Wait until the run is done.")
    secret = await run_in_threadpool(server.shares.create, visitor.person, run, int(given) * _DAY_S)
    await run_in_threadpool(server.audit.record, visitor.person, visitor.address, "shared", run.id, f"{given} days")
    base = (server.settings.public_url or str(request.base_url)).rstrip("/")
    return await _run_answer(server, visitor, run, f"{base}/s/{secret}")


async def revoke(request: Request) -> Response:
    """``POST /runs/ID/shares/SHARE/revoke``: the link shows nothing any more."""
    visitor, server, _ = await _changing(request)
    run = await _run(request, server, visitor)
    await run_in_threadpool(server.shares.revoke, run, request.path_params["share_id"])
    await run_in_threadpool(server.audit.record, visitor.person, visitor.address, "revoked link", run.id)
    return RedirectResponse(f"/runs/{run.id}", 303)


def run_as_json(run: ServedRun) -> dict[str, Any]:
    """A run as programs see it."""
    return {
        "id": run.id,
        "title": run.described.title,
        "project": run.described.project,
        "labels": run.described.labels,
        "state": run.state.value,
        "created_utc": run.created_utc,
        "path": f"/runs/{run.id}",
        "failure": run.failure,
        "hint": run.hint,
        "sentence": run.summary.get("sentence"),
        "figures": run.summary.get("figures"),
    }


async def _changing(request: Request) -> tuple[Visitor, Server, dict[str, str]]:
    """Who wants to change something, with the fields of their form. Raises Refusal where they may not."""
    visitor, server = await demand_uploader(request), server_of(request)
    fields = await form(request, server.settings.uploads)
    check_form(request, visitor, request.headers.get(CSRF_HEADER) or fields.get("csrf"))
    return visitor, server, fields


async def _run(request: Request, server: Server, visitor: Visitor) -> ServedRun:
    return await run_in_threadpool(server.runs.find, visitor.person, request.path_params["run_id"])


async def _run_answer(server: Server, visitor: Visitor, run: ServedRun, new_link: str | None = None) -> Response:
    view = await run_in_threadpool(_run_view, server, visitor.person, run, new_link)
    return page_answer(page_for(visitor, server, run.described.title, view), "run.html")


def _run_view(server: Server, person: Person, run: ServedRun, new_link: str | None) -> RunView:
    files = server.runs.files(run.id)
    return RunView(
        run=run,
        heading=_heading(run),
        facts=_facts(run, person),
        figures=figures_of(run.summary) if run.state is State.DONE else (),
        doing=doing_sentence(server, run),
        files=tuple(_shown_file(file, person) for file in files),
        shares=tuple(ShownShare(share, shown_utc(share.expires_utc)) for share in server.shares.of(run)),
        new_link=new_link,
        may_change=person.may_upload,
        can_retry=run.state in (State.FAILED, State.CANCELLED) and all(file.is_kept for file in files),
    )


def _shown_file(file: RunFile, person: Person) -> ShownFile:
    return ShownFile(file, format_bytes(file.size_bytes), is_offered=file.is_kept and person.may_upload)


def _heading(run: ServedRun) -> str:
    """The one sentence that says how it stands."""
    sentences = {
        State.QUEUED: "This run waits for its analysis",
        State.RUNNING: "This run is being analysed",
        State.DONE: str(run.summary.get("sentence", "")),
        State.FAILED: run.failure or "The analysis failed",
        State.CANCELLED: "The analysis was cancelled",
    }
    return ended(sentences[run.state]) if run.state is State.FAILED else sentences[run.state]


def _facts(run: ServedRun, person: Person) -> tuple[str, ...]:
    facts = [run.described.project, *run.described.labels, f"by {run.owner}", shown_utc(run.created_utc)]
    if person.sees_every_team and person != LOCAL:
        facts.insert(1, f"team {run.team}")
    if run.state is State.DONE and run.started_utc and run.ended_utc:
        facts.append(f"analysed in {seconds_between(run.started_utc, run.ended_utc):.1f} s")
    return tuple(filter(None, facts))


def _list_view(request: Request, server: Server, person: Person) -> ListView:
    sought, first = _sought(request), first_asked(request)
    runs, total = server.runs.listed(person, sought, first, RUNS_A_PAGE)
    is_narrowed = sought != Sought()
    return ListView(
        rows=rows_of(runs),
        sought=sought,
        heading=counted(total, "run") + (" found" if is_narrowed else ""),
        projects=server.runs.projects(person),
        states=tuple(state.value for state in State),
        figure_names=FIGURE_NAMES,
        newer=_address(sought, max(first - RUNS_A_PAGE, 0)) if first else None,
        older=_address(sought, first + RUNS_A_PAGE) if first + RUNS_A_PAGE < total else None,
        shows_teams=person.sees_every_team and server.needs_tokens,
    )


def _sought(request: Request) -> Sought:
    asked = request.query_params
    return Sought(asked.get("q", "")[:200], asked.get("project", ""), asked.get("state", ""))


def first_asked(request: Request) -> int:
    """The place in a list from which on it is asked for."""
    given = request.query_params.get("first", "0")
    return int(given) if given.isdecimal() and len(given) < 9 else 0  # noqa: PLR2004 - more runs than there can be


def _address(sought: Sought, first: int) -> str:
    """The list from this run on, as a link."""
    asked = {"q": sought.words, "project": sought.project, "state": sought.state, "first": str(first) if first else ""}
    return "/?" + urlencode({key: value for key, value in asked.items() if value})
