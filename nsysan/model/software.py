"""Versions of NVIDIA's software that a job ran on."""

from __future__ import annotations

import msgspec


class Software(msgspec.Struct, frozen=True):
    """Versions as the trace tells them, None where it does not.

    ``driver_cuda`` is the newest CUDA that the driver supports, ``runtime_cuda`` the CUDA that the job was built with.
    """

    driver: str | None = None
    driver_cuda: str | None = None
    runtime_cuda: str | None = None
    nccl: str | None = None


def cuda_version(number: int) -> str | None:
    """``13.0`` of 13000, as CUDA counts its versions: 1000 x major + 10 x minor; None of what is no version."""
    major, rest = divmod(number, 1000)
    return f"{major}.{rest // 10}" if major > 0 else None
