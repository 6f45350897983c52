"""What ``record_param_comms`` says about a collective, in the model's terms."""

from __future__ import annotations

import re
from collections.abc import Mapping

import msgspec

from nsysan.model.kernels import Collective
from nsysan.model.tables import ABSENT

EVENT_NAME = "record_param_comms"

_NO_COLLECTIVES = frozenset({"wait", "init", "startcoalesce", "endcoalesce"})
"""What PyTorch records under the same name and is no communication."""
_KINDS = (
    (Collective.ALL_REDUCE, re.compile("all_?reduce")),
    (Collective.REDUCE_SCATTER, re.compile("reduce_?scatter")),
    (Collective.ALL_GATHER, re.compile("all_?gather")),
    (Collective.ALL_TO_ALL, re.compile("all_?to_?all")),
    (Collective.BROADCAST, re.compile("broadcast")),
    (Collective.REDUCE, re.compile("reduce")),
    (Collective.GATHER, re.compile("gather")),
    (Collective.SCATTER, re.compile("scatter")),
    (Collective.BARRIER, re.compile("barrier")),
    (Collective.SEND_RECV, re.compile("send|recv")),
)
_BYTES_PER_ELEMENT = {
    "Bool": 1,
    "Byte": 1,
    "Char": 1,
    "Float8_e4m3fn": 1,
    "Float8_e5m2": 1,
    "Short": 2,
    "Half": 2,
    "BFloat16": 2,
    "Int": 4,
    "Float": 4,
    "Long": 8,
    "Double": 8,
    "ComplexFloat": 8,
    "ComplexDouble": 16,
}


class CollectiveParameters(msgspec.Struct, frozen=True):
    """A collective as it was called; a number is ABSENT, a text empty, where it is not told."""

    kind: Collective
    size_bytes: int
    dtype: str
    group: str
    group_size: int
    sends_to: int = ABSENT
    receives_from: int = ABSENT
    sequence: int = ABSENT


def collective_parameters(arguments: Mapping[str, object]) -> CollectiveParameters | None:
    """The collective in the arguments of a ``record_param_comms`` event; None where it is none."""
    name = arguments.get("Collective name")
    if not isinstance(name, str) or name.lower() in _NO_COLLECTIVES:
        return None
    kind, dtype = _kind(name.lower()), _text(arguments, "dtype")
    group_size = _count(arguments, "Group size")
    element_count = _whole_array(kind, arguments, group_size)
    known = element_count is not None and dtype in _BYTES_PER_ELEMENT
    return CollectiveParameters(
        kind=kind,
        size_bytes=(element_count or 0) * _BYTES_PER_ELEMENT[dtype] if known else ABSENT,
        dtype=dtype,
        group=_text(arguments, "Process Group Name"),
        group_size=_or_absent(group_size),
        sends_to=_or_absent(_count(arguments, "Dst Rank") if name.lower().endswith("send") else None),
        receives_from=_or_absent(_count(arguments, "Src Rank") if name.lower().endswith("recv") else None),
        sequence=_or_absent(_count(arguments, "Seq")),
    )


def _or_absent(value: int | None) -> int:
    return ABSENT if value is None else value


def _kind(name: str) -> Collective:
    return next((kind for kind, pattern in _KINDS if pattern.search(name)), Collective.UNKNOWN)


def _whole_array(kind: Collective, arguments: Mapping[str, object], group_size: int | None) -> int | None:
    """How many elements the whole array has: PyTorch counts what goes into and comes out of this rank."""
    into, out_of = _count(arguments, "In msg nelems"), _count(arguments, "Out msg nelems")
    if into is None or out_of is None:
        return None
    if kind is Collective.ALL_TO_ALL:
        return into
    if kind in {Collective.GATHER, Collective.SCATTER}:
        # the whole is on the root only; every rank has its part
        part = into if kind is Collective.GATHER else out_of
        return None if group_size is None else part * group_size
    return max(into, out_of)


def _count(arguments: Mapping[str, object], key: str) -> int | None:
    value = arguments.get(key)
    return value if type(value) is int and 0 <= value < 1 << 48 else None


def _text(arguments: Mapping[str, object], key: str) -> str:
    value = arguments.get(key)
    return value if isinstance(value, str) else ""
