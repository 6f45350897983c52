"""Names of records and threads, as the ids that the tables of a Trace hold."""

from __future__ import annotations

from nsysan.model.trace import PID_MASK, PID_SHIFT

_TID_MASK = (1 << PID_SHIFT) - 1


class Names:
    """Every text under one id, counted from 0 in order of first use."""

    def __init__(self) -> None:
        self._ids: dict[str, int] = {}

    def id_of(self, text: str) -> int:
        """The id of ``text``, a new one where it has none yet."""
        known = self._ids.get(text)
        return self._ids.setdefault(text, len(self._ids)) if known is None else known

    def strings(self) -> dict[int, str]:
        """The texts by id; a lone surrogate, which no encoding can hold, is a question mark."""
        return {text_id: text.encode("utf-8", "replace").decode() for text, text_id in self._ids.items()}


class Threads:
    """Serialized ids of threads. Where a thread id takes more than 24 bits, a free one from the top stands for it."""

    def __init__(self) -> None:
        self._long: dict[tuple[int, int], int] = {}

    def global_tid(self, pid: object, tid: object) -> int:
        """The id that nsys would give the thread. Raises ValueError where a part is no integer that it can hold."""
        if type(pid) is not int or type(tid) is not int or not 0 <= pid <= PID_MASK:
            raise ValueError("no process or thread")
        if not 0 <= tid <= _TID_MASK:
            tid = _TID_MASK - self._long.setdefault((pid, tid), len(self._long))
        return pid << PID_SHIFT | max(tid, 0)
