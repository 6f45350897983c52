"""M23: a client that sends slowly, or nothing, holds its place no longer than patience lasts; one that left, none."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace
from starlette.requests import ClientDisconnect, Request

from nsysan.service.refusals import Refusal
from nsysan.service.settings import Settings, UploadLimits
from nsysan.service.uploads import Announced
from nsysan.service.web.bodies import pieces, receive
from nsysan.service.web.server import build_server
from tests.service.heart import ANNA, Heart

LIMITS = replace(UploadLimits(), patience_s=0.05, least_bytes=100)
Message = MutableMapping[str, Any]


def _request(receive: Callable[[], Awaitable[Message]]) -> Request:
    return Request({"type": "http", "method": "PUT", "path": "/", "headers": []}, receive)


async def _all(request: Request) -> bytes:
    return b"".join([chunk async for chunk in pieces(request, LIMITS)])


Answer = TypeVar("Answer")


def ended(work: Coroutine[Any, Any, Answer]) -> Answer:
    """What the work comes to, on a thread of its own: on this one the loop of a browser may run, of other tests."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()


def test_a_client_that_sends_nothing_is_cut_off() -> None:
    async def never() -> Message:
        await asyncio.Event().wait()
        return {}

    with pytest.raises(Refusal, match="came too slowly") as caught:
        ended(_all(_request(never)))
    assert caught.value.status == 408


def test_a_client_that_sends_a_byte_now_and_then_is_cut_off() -> None:
    async def drip() -> Message:
        await asyncio.sleep(0.001)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def all_of_it() -> int:
        return len(await _all(_request(drip)))

    # 100 bytes in 0.05 s would take a pause of half a millisecond
    with pytest.raises(Refusal, match="came too slowly"):
        ended(all_of_it())


def test_a_body_that_comes_is_taken_whole() -> None:
    left = [b"a" * 1000] * 50

    async def give() -> Message:
        return {"type": "http.request", "body": left.pop(), "more_body": bool(left)}

    assert ended(_all(_request(give))) == b"a" * 50_000


def test_what_a_client_left_in_the_middle_is_gone_on_with_at_once(heart: Heart) -> None:
    messages: list[Message] = [
        {"type": "http.request", "body": b"x" * 60, "more_body": True},
        {"type": "http.disconnect"},
    ]
    announced = Announced("rank0.sqlite", 100, "fingerprint")

    async def give() -> Message:
        return messages.pop(0)

    async def ids_and_offset() -> tuple[str, str, str, int]:
        # nobody is taken to have left for being silent: an hour must pass
        limits = replace(UploadLimits(), free_bytes=0, resting_s=3600.0)
        server = build_server(Settings(heart.folder.root, uploads=limits), heart.folder, heart.ledger)
        first = server.uploads.announce(ANNA, announced)
        beside = server.uploads.announce(ANNA, announced)
        with pytest.raises(ClientDisconnect):
            await receive(_request(give), server, first, 0)
        again = server.uploads.announce(ANNA, announced)
        return first.id, beside.id, again.id, again.offset_bytes

    first, beside, again, offset_bytes = ended(ids_and_offset())

    assert beside != first
    assert (again, offset_bytes) == (first, 60)
