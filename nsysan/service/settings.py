"""What a server is told when it starts: where its data lie, how it is reached, and how much anybody may take."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

GIB = 1 << 30
MIB = 1 << 20


class UploadLimits(msgspec.Struct, frozen=True):
    """How much may come in.

    A body must bring at least ``least_bytes`` in every ``patience_s``, or its connection is closed. ``free_bytes`` is
    the floor: what would leave less of the disk is refused. Whoever announces a file again goes on with what they began
    where its body broke off, or nothing of it has come for ``resting_s``: else somebody else may be at it.
    """

    file_bytes: int = 50 * GIB
    run_bytes: int = 200 * GIB
    files_of_run: int = 1024
    open_uploads: int = 2048
    bodies_at_once: int = 64
    free_bytes: int = GIB
    patience_s: float = 30.0
    least_bytes: int = 4096
    kept_s: float = 24 * 3600.0
    resting_s: float = 10.0


class UnpackingLimits(msgspec.Struct, frozen=True):
    """How much an archive may turn into: bytes that really come out, and entries."""

    unpacked_bytes: int = 200 * GIB
    entries: int = 4096


class WorkerLimits(msgspec.Struct, frozen=True):
    """How much one analysis may take. Memory and CPU time hold for each of its processes, the others for all."""

    memory_bytes: int = 8 * GIB
    cpu_s: int = 3600
    disk_bytes: int = 200 * GIB
    wall_s: float = 4 * 3600.0
    interruptions: int = 10
    """So often a run is begun anew after the server died under it."""


class RateLimits(msgspec.Struct, frozen=True):
    """Requests a minute of one client, log-ins that fail a minute of one address, and pages that wait for news.

    Of more ``connections`` at once, each is told to come back.
    """

    requests: int = 6000
    failed_logins: int = 10
    event_streams: int = 64
    connections: int = 384


class Settings(msgspec.Struct, frozen=True):
    """All of it. ``public_url`` is how clients reach the server where that is not ``host`` and ``port``."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 8470
    public_url: str | None = None
    require_tokens: bool = False
    discard_captures: bool = False
    worker_count: int = max(1, (os.cpu_count() or 1) // 2)
    nsys: str | None = None
    stop_s: float = 10.0
    uploads: UploadLimits = msgspec.field(default_factory=UploadLimits)
    unpacking: UnpackingLimits = msgspec.field(default_factory=UnpackingLimits)
    worker: WorkerLimits = msgspec.field(default_factory=WorkerLimits)
    rates: RateLimits = msgspec.field(default_factory=RateLimits)
