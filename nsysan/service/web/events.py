"""What a run is at, as it goes on: server-sent events, so that a page shows it without asking again and again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from nsysan.model.units import counted, format_count
from nsysan.service.people import Person
from nsysan.service.refusals import NotThere, Refusal
from nsysan.service.runs import ServedRun, State
from nsysan.service.web.server import Server, server_of
from nsysan.service.web.visitors import demand_visitor
from nsysan.service.work.order import Doing

_LOOK_S = 0.5
_SIGN_OF_LIFE_LOOKS = 30


async def stream(request: Request) -> Response:
    """``GET /runs/ID/events``: what it is at, each time that changes, until it ends."""
    visitor, server = await demand_visitor(request), server_of(request)
    run_id = request.path_params["run_id"]
    await run_in_threadpool(server.runs.find, visitor.person, run_id)
    if server.open_streams >= server.settings.rates.event_streams:
        raise Refusal("Too many pages wait for news.", "Reload the page to see how it stands.", status=503)
    return StreamingResponse(_events(server, visitor.person, run_id), media_type="text/event-stream")


def doing_sentence(server: Server, run: ServedRun) -> str:
    """What the run is at, in a few words; nothing where it has ended."""
    if run.state is State.RUNNING:
        return _sentence(server.runner.doing.get(run.id, Doing("starting")))
    place = server.queue.place(run.id) if run.state is State.QUEUED else None
    if place is None:
        return ""
    return f"waiting behind {counted(place, 'run')}" if place else "waiting, next in line"


def _sentence(doing: Doing) -> str:
    if not doing.done_count:
        return doing.doing
    of_all = "" if doing.row_count is None else f" of {format_count(doing.row_count)}"
    return f"{doing.doing}, {format_count(doing.done_count)}{of_all} rows"


async def _events(server: Server, person: Person, run_id: str) -> AsyncIterator[str]:
    server.open_streams += 1
    try:
        told, looks = None, 0
        while not server.stopping.is_set():
            try:
                run = await run_in_threadpool(server.runs.find, person, run_id)
            except NotThere:
                break
            now = {"state": run.state.value, "doing": await run_in_threadpool(doing_sentence, server, run)}
            looks += 1
            if now != told:
                yield f"data: {json.dumps(now)}\n\n"
                told, looks = now, 0
            elif looks >= _SIGN_OF_LIFE_LOOKS:
                yield ":\n\n"
                looks = 0
            if not run.state.is_open:
                break
            await asyncio.sleep(_LOOK_S)
        else:
            return  # the browser comes back by itself, to the next server
        yield "event: ended\ndata: {}\n\n"
    finally:
        server.open_streams -= 1
