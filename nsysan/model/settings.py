"""Which variables of an environment may be shown: what they set, never where or on which machine."""

from __future__ import annotations

import re

_NAMES_A_MACHINE = frozenset({"NCCL_COMM_ID", "NCCL_HOSTID"})
# words and lists of them, none of which tells a GPU's UUID, or sizes as CUBLAS_WORKSPACE_CONFIG has them
_SHOWN = re.compile(r"(?!.*\b(?:GPU|MIG)-)[A-Za-z0-9_,^=+-]{1,64}|(?::[0-9]+:[0-9]+){1,8}")


def shown_setting(name: str, value: str) -> str | None:
    """A setting's value, None where it may name a machine, a GPU, an address or a path."""
    is_shown = name not in _NAMES_A_MACHINE and _SHOWN.fullmatch(value) is not None
    return value if is_shown else None
