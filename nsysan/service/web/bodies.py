"""Bodies of requests: in pieces, never faster than they are put down, never slower than patience lasts."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request

from nsysan.service.refusals import Refusal, TooMuch
from nsysan.service.settings import UploadLimits
from nsysan.service.uploads import Upload
from nsysan.service.web.server import Server

PIECE_BYTES = 1 << 20
_SMALL_BYTES = 1 << 19
"""As much as a run of a thousand files needs."""
_MOST_FIELDS = 64


class Receiver:
    """Puts the bytes of one upload down as they come, a piece at a time; ``offset`` is how far it has come."""

    def __init__(self, server: Server, upload: Upload, offset: int) -> None:
        self._server = server
        self._upload = upload
        self._waiting = bytearray()
        self.offset = offset

    async def take(self, data: bytes) -> None:
        """Take these bytes, and put them down once they are enough."""
        self._waiting += data
        if len(self._waiting) >= PIECE_BYTES:
            await self.put_down()

    async def put_down(self) -> None:
        """Put down what has come."""
        if self._waiting:
            data = bytes(self._waiting)
            self._waiting.clear()
            self.offset = await run_in_threadpool(self._server.uploads.append, self._upload, self.offset, data)


async def pieces(request: Request, limits: UploadLimits) -> AsyncIterator[bytes]:
    """The body as it comes. Raises Refusal where it comes too slowly, ClientDisconnect where it breaks off."""
    loop = asyncio.get_running_loop()
    stream = request.stream()
    until_s, came_bytes = loop.time() + limits.patience_s, 0
    while True:
        try:
            chunk = await asyncio.wait_for(anext(stream), until_s - loop.time())
        except StopAsyncIteration:
            return
        except asyncio.TimeoutError:
            raise Refusal("The data came too slowly.", "Go on where it broke off.", status=408) from None
        came_bytes += len(chunk)
        if came_bytes >= limits.least_bytes:
            until_s, came_bytes = loop.time() + limits.patience_s, 0
        if chunk:
            yield chunk


async def receive(request: Request, server: Server, upload: Upload, offset: int) -> int:
    """How far the upload has come with the whole body. What came before it broke off is put down all the same."""
    receiver = Receiver(server, upload, offset)
    try:
        async for chunk in pieces(request, server.settings.uploads):
            await receiver.take(chunk)
    except (ClientDisconnect, Refusal):
        await receiver.put_down()
        server.uploads.leave(upload)
        raise
    await receiver.put_down()
    return receiver.offset


@asynccontextmanager
async def a_place(server: Server) -> AsyncIterator[None]:
    """One of the places for bodies that come at once. Raises Refusal where all are taken."""
    if server.open_bodies >= server.settings.uploads.bodies_at_once or server.stopping.is_set():
        raise Refusal("The server takes no more uploads at once.", "Try again in a moment.", status=503)
    server.open_bodies += 1
    try:
        yield
    finally:
        server.open_bodies -= 1


async def small_body(request: Request, limits: UploadLimits) -> bytes:
    """A body that holds a few words. Raises TooMuch where it holds more."""
    body = bytearray()
    async for chunk in pieces(request, limits):
        body += chunk
        if len(body) > _SMALL_BYTES:
            raise TooMuch("The request is too long.")
    return bytes(body)


async def form(request: Request, limits: UploadLimits) -> dict[str, str]:
    """The fields of a form, the last of each name. Raises Refusal where it is none."""
    body = await small_body(request, limits)
    try:
        fields = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS)
    except ValueError as error:
        raise Refusal("This is no form.") from error
    return {name: values[-1] for name, values in fields.items()}
