"""Kept runs as JSON, for tools other than nsysan."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from nsysan import __version__
from nsysan.history.store import KeptRun


def encode_runs(runs: Sequence[KeptRun]) -> bytes:
    """A line a run, each a JSON object of its own: what is kept of it, and the nsysan that wrote it down."""
    lines = (msgspec.json.encode({"nsysan_version": __version__, **msgspec.to_builtins(run)}) + b"\n" for run in runs)
    return b"".join(lines)
