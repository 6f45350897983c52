"""Which GPU an imported benchmark is of."""

from __future__ import annotations

from nsysan.model.errors import UsageError


def gpu_told(of_output: str | None, of_user: str | None, tool: str) -> str:
    """The name in the output, else the user's. Raises UsageError where there is neither."""
    name = of_output or of_user
    if name is None:
        raise UsageError(
            f"This output of {tool} does not tell which GPU it is of.",
            "Say it as nvidia-smi writes it: --gpu 'NVIDIA H100 80GB HBM3'",
        )
    return name
