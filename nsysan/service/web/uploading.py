"""The way in for files: pieces of an upload, forms with files, and plain bodies; and the runs they become."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nsysan.model.units import counted
from nsysan.service.names import label_texts, title_text
from nsysan.service.refusals import NotThere, Refusal, TooMuch
from nsysan.service.runs import Described, ServedRun
from nsysan.service.uploads import Announced, Upload
from nsysan.service.web.answers import json_answer, wants_page
from nsysan.service.web.bodies import Receiver, a_place, pieces, receive, small_body
from nsysan.service.web.multipart import FieldCame, FileBegan, FileEnded, FileWentOn, parts_of
from nsysan.service.web.server import Server, server_of
from nsysan.service.web.visitors import CSRF_HEADER, Visitor, check_form, demand_uploader
from nsysan.service.work.order import LONGEST_SAID, SAID

OFFSET_HEADER = "upload-offset"


async def announce(request: Request) -> Response:
    """``POST /api/uploads``: a new upload, or the one to go on with."""
    visitor, server = await _programs(request), server_of(request)
    said = await _json(request, server)
    size_bytes, fingerprint = said.get("size_bytes"), said.get("fingerprint")
    if size_bytes is not None and (not isinstance(size_bytes, int) or isinstance(size_bytes, bool) or size_bytes < 0):
        raise Refusal("size_bytes is no number of bytes.")
    announced = Announced(
        _text(said, "name"), size_bytes, None if fingerprint is None else _kept_text(said, "fingerprint")
    )
    upload = await run_in_threadpool(server.uploads.announce, visitor.person, announced)
    return json_answer(_told(upload), 201)


async def look(request: Request) -> Response:
    """``GET /api/uploads/ID``: how far it has come."""
    visitor, server = await _programs(request), server_of(request)
    return json_answer(_told(await _upload(request, server, visitor)))


async def go_on(request: Request) -> Response:
    """``PATCH /api/uploads/ID``: the bytes from an offset on."""
    visitor, server = await _programs(request), server_of(request)
    upload = await _upload(request, server, visitor)
    given = request.headers.get(OFFSET_HEADER, "")
    if not given.isdecimal():
        raise Refusal(f"{OFFSET_HEADER} is missing.", "Say at which byte the data begin.")
    async with a_place(server):
        offset = await receive(request, server, upload, int(given))
    return json_answer({"id": upload.id, "offset_bytes": offset})


async def give_up(request: Request) -> Response:
    """``DELETE /api/uploads/ID``: forget it."""
    visitor, server = await _programs(request), server_of(request)
    upload = await _upload(request, server, visitor)
    await run_in_threadpool(server.uploads.forget, (upload.id,))
    return Response(status_code=204)


async def use(request: Request) -> Response:
    """``POST /api/runs``: uploads become a run."""
    visitor, server = await _programs(request), server_of(request)
    said = await _json(request, server)
    given, key = said.get("uploads"), _kept_text(said, "key", "") or None
    if not isinstance(given, list):
        raise Refusal("uploads is no list.")
    try:
        found = [await _complete(server, visitor, entry) for entry in given]
        run = await _create(request, visitor, said, found, key)
    except NotThere:
        # the same request came before, and its answer was lost
        made = await run_in_threadpool(server.runs.made_before, visitor.person, key)
        if made is None:
            raise
        run = made
    return _made(run)


async def put_file(request: Request) -> Response:
    """``PUT /upload/NAME``, as ``curl -T`` sends it: one file, one run."""
    visitor, server = await _programs(request), server_of(request)
    async with a_place(server):
        announced = Announced(request.path_params["name"], _length(request))
        upload = await run_in_threadpool(server.uploads.announce, visitor.person, announced)
        try:
            await receive(request, server, upload, 0)
            whole = await run_in_threadpool(server.uploads.complete, upload)
            run = await _create(request, visitor, request.query_params, [whole])
        except BaseException:
            await run_in_threadpool(server.uploads.forget, (upload.id,))
            raise
    return _made(run)


async def take_form(request: Request) -> Response:
    """``POST /upload``: a form with files, as browsers without our script and ``curl -F`` send it."""
    visitor, server = await demand_uploader(request), server_of(request)
    if (length := _length(request)) is not None:
        await run_in_threadpool(server.folder.demand_room, length, server.settings.uploads.free_bytes)
    async with a_place(server):
        form = _Form(request, server, visitor)
        try:
            await form.read()
            run = await _create(request, visitor, form.fields, form.uploads)
        except BaseException:
            await run_in_threadpool(server.uploads.forget, tuple(upload.id for upload in form.begun))
            raise
    return RedirectResponse(f"/runs/{run.id}", 303) if wants_page(request) else _made(run)


class _Form:
    """A form as it comes: its fields, and its files as complete uploads."""

    def __init__(self, request: Request, server: Server, visitor: Visitor) -> None:
        self._request = request
        self._server = server
        self._visitor = visitor
        self._receiver: Receiver | None = None
        self._came_bytes = 0
        self.fields: dict[str, str] = {}
        self.begun: list[Upload] = []
        self.uploads: list[Upload] = []

    async def read(self) -> None:
        """Read all of it. Raises Refusal where it is damaged or too large, or does not carry what our forms carry."""
        body = pieces(self._request, self._server.settings.uploads)
        async for came in parts_of(self._request.headers.get("content-type", ""), body):
            if isinstance(came, FieldCame):
                self.fields[came.name] = came.value
            elif isinstance(came, FileBegan):
                await self._begin(came.name)
            elif isinstance(came, FileWentOn):
                await self._go_on(came.data)
            elif isinstance(came, FileEnded):
                await self._end()
        if self._receiver is not None or not self.fields.keys() | {upload.id for upload in self.begun}:
            raise Refusal("The form is damaged, or ends too soon.", "Send it again.")
        check_form(self._request, self._visitor, self.fields.get("csrf"))

    async def _begin(self, name: str) -> None:
        # the form's own token stands before its files, so that nobody's files are taken without
        check_form(self._request, self._visitor, self.fields.get("csrf"))
        if len(self.begun) >= self._server.settings.uploads.files_of_run:
            raise TooMuch("A run may not have so many files.")
        upload = await run_in_threadpool(self._server.uploads.announce, self._visitor.person, Announced(name, None))
        self.begun.append(upload)
        self._receiver = Receiver(self._server, upload, 0)

    async def _go_on(self, data: bytes) -> None:
        self._came_bytes += len(data)
        if self._came_bytes > self._server.settings.uploads.run_bytes:
            raise TooMuch("The files are larger than a run may be.")
        if self._receiver is not None:
            await self._receiver.take(data)

    async def _end(self) -> None:
        if self._receiver is None:
            return
        await self._receiver.put_down()
        offset, self._receiver = self._receiver.offset, None
        upload = self.begun[-1]
        if upload.name == "unnamed" and not offset:
            return  # what browsers send of a field in which no file was chosen
        self.uploads.append(await run_in_threadpool(self._server.uploads.complete, upload))


async def _create(
    request: Request, visitor: Visitor, said: Mapping[str, Any], uploads: list[Upload], key: str | None = None
) -> ServedRun:
    server = server_of(request)
    otherwise = uploads[0].name if uploads else ""
    labels = said.get("labels", "")
    described = Described(
        title_text(_text(said, "title", ""), otherwise),
        title_text(_text(said, "project", ""), ""),
        label_texts("\n".join(map(str, labels)) if isinstance(labels, list) else str(labels)),
        {name: text for name in SAID if (text := _said(said, name))},
    )
    run = await run_in_threadpool(server.runs.create, visitor.person, described, uploads, key)
    size_bytes = sum(upload.offset_bytes for upload in uploads)
    detail = f"{counted(len(uploads), 'file')}, {size_bytes} bytes"
    await run_in_threadpool(server.audit.record, visitor.person, visitor.address, "uploaded", run.id, detail)
    server.runner.wake()
    return run


def _said(said: Mapping[str, Any], name: str) -> str:
    """What was said for the analysis, lines as if there were commas between. Raises TooMuch where it is too long."""
    value = said.get(name, "")
    lines = _kept_text({name: str(value)} if isinstance(value, int) else said, name, "").splitlines()
    text = ",".join(filter(None, map(str.strip, lines)))
    if len(text) > LONGEST_SAID:
        raise TooMuch(f"{name} is longer than {LONGEST_SAID} characters.")
    return text


def _made(run: ServedRun) -> Response:
    return json_answer({"id": run.id, "state": run.state.value, "path": f"/runs/{run.id}"}, 201)


async def _programs(request: Request) -> Visitor:
    """Who sends a request that a form cannot send. Raises Refusal where they may not, or another site made them."""
    visitor = await demand_uploader(request)
    check_form(request, visitor, request.headers.get(CSRF_HEADER))
    return visitor


async def _complete(server: Server, visitor: Visitor, entry: Any) -> Upload:
    """The upload that an entry of the list names, by its id alone or with the hash it must have."""
    named = entry if isinstance(entry, dict) else {"id": entry}
    upload = await run_in_threadpool(server.uploads.find, visitor.person, _kept_text(named, "id"))
    sha256 = None if named.get("sha256") is None else _kept_text(named, "sha256")
    return await run_in_threadpool(server.uploads.complete, upload, sha256)


async def _upload(request: Request, server: Server, visitor: Visitor) -> Upload:
    return await run_in_threadpool(server.uploads.find, visitor.person, request.path_params["upload_id"])


async def _json(request: Request, server: Server) -> dict[str, Any]:
    try:
        said = json.loads(await small_body(request, server.settings.uploads))
    except (ValueError, RecursionError) as error:
        raise Refusal("The request is no JSON.") from error
    if not isinstance(said, dict):
        raise Refusal("The request is no JSON object.")
    return said


def _text(said: Mapping[str, Any], key: str, otherwise: str | None = None) -> str:
    value = said.get(key, otherwise)
    if not isinstance(value, str):
        raise Refusal(f"{key} is no text.")
    return value


def _kept_text(said: Mapping[str, Any], key: str, otherwise: str | None = None) -> str:
    """The text as the ledger takes it: half a character, as names on a disk may hold, is spelled out."""
    return _text(said, key, otherwise).encode("utf-8", "backslashreplace").decode()


def _length(request: Request) -> int | None:
    given = request.headers.get("content-length", "")
    return int(given) if given.isdecimal() else None


def _told(upload: Upload) -> dict[str, Any]:
    return {
        "id": upload.id,
        "name": upload.name,
        "size_bytes": upload.size_bytes,
        "offset_bytes": upload.offset_bytes,
        "is_complete": upload.sha256 is not None,
    }
