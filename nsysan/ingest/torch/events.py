"""The events of a trace, sorted into rows by what they record."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Mapping
from typing import Any

from nsysan.ingest.torch.collectives import EVENT_NAME, collective_parameters
from nsysan.ingest.torch.copies import copy_kinds
from nsysan.ingest.torch.names import Names, Threads
from nsysan.ingest.torch.rows import Rows
from nsysan.ingest.torch.times import moment_ns, start_and_end_ns
from nsysan.model.host_events import NvtxEvent
from nsysan.model.tables import ABSENT

Event = Mapping[str, Any]

OPERATOR_DOMAIN, ANNOTATION_DOMAIN = 1, 2
DOMAIN_NAMES = {OPERATOR_DOMAIN: "cpu_op", ANNOTATION_DOMAIN: "user_annotation"}
"""Operators and annotations are ranges of two domains, called as Kineto calls these events."""

_OLDER_NAMES = {
    "Kernel": "kernel",
    "Memcpy": "gpu_memcpy",
    "Memset": "gpu_memset",
    "Runtime": "cuda_runtime",
    "Operator": "cpu_op",
}
"""What the first releases of the profiler called the same categories."""
WORK = {"kernels": "kernel", "copies": "gpu_memcpy", "memsets": "gpu_memset"}
"""The categories of GPU work, by the fields of a Trace that hold it."""
PYTHON_FRAMES = "python_function"
"""Events that are not read, but answer a question: the stacks of Python."""
_INSTANT = "cpu_instant_event"
_MEMORY = "[memory]"
"""What PyTorch calls the moments at which its allocator handed out memory or took it back."""
_CUDA = 1
"""The number of CUDA among the kinds of devices."""
THREAD_COLUMN = 2
"""Where the rows of calls and of ranges have their global thread id."""
_DEEPEST_SHAPE = 3
"""A shape, a list of shapes, a list of such lists: an operator's inputs nest no deeper."""
_AXIS_LIMIT = 1 << 31


class Events:
    """Rows per kind of event, times in ns as the trace counts them; GPU rows lack the process, which is the trace's.

    ``unreadable`` counts, by category, events of these kinds that lack what they are nothing without. ``other_kinds``
    holds PYTHON_FRAMES where some were met; ``labelled_pids`` the processes called the host's.
    """

    def __init__(self) -> None:
        self.names = Names()
        self.kernels, self.copies, self.memsets = Rows(7), Rows(12), Rows(7)
        self.calls, self.ranges, self.collectives = Rows(6), Rows(7), Rows(11)
        self.marks = Rows(2)
        self.kernel_shapes = Rows(8)
        self.allocator_states = Rows(4)
        self.unreadable: Counter[str] = Counter()
        self.other_kinds: set[str] = set()
        self.labelled_pids: set[int] = set()
        self._threads = Threads()
        self._adders = {
            "kernel": self._add_kernel,
            "gpu_memcpy": self._add_copy,
            "gpu_memset": self._add_memset,
            "cuda_runtime": self._add_call,
            "cuda_driver": self._add_driver_call,
            "cpu_op": self._add_operator,
            "user_annotation": self._add_annotation,
            "Trace": self._add_mark,
            _INSTANT: self._add_allocator_state,
        }

    def add(self, event: object) -> None:
        """Keep what the event records, if it is of a kind that is kept."""
        if not isinstance(event, dict):
            self.unreadable["traceEvents"] += 1
            return
        category = event.get("cat")
        if not isinstance(category, str):
            self._add_label(event)
            return
        category = _OLDER_NAMES.get(category, category)
        adder = self._adders.get(category)
        if adder is None:
            self.other_kinds |= {category} & {PYTHON_FRAMES}
            return
        try:
            adder(event, *(moment_ns(event) if category == _INSTANT else start_and_end_ns(event)))
        except (ValueError, struct.error):
            self.unreadable[category] += 1

    def _add_kernel(self, event: Event, start_ns: int, end_ns: int) -> None:
        arguments = _arguments(event)
        where = _place(event, arguments)
        self.kernels.append(start_ns, end_ns, *where, self._name_id(event))
        needs = (_optional(arguments, name) for name in ("registers per thread", "shared memory"))
        self.kernel_shapes.append(*_axes(arguments.get("grid")), *_axes(arguments.get("block")), *needs)

    def _add_copy(self, event: Event, start_ns: int, end_ns: int) -> None:
        arguments, name = _arguments(event), event.get("name")
        kinds = copy_kinds(name) if isinstance(name, str) else (ABSENT, ABSENT, ABSENT)
        ends = _optional(arguments, "fromDevice"), _optional(arguments, "toDevice")
        size_bytes = _optional(arguments, "bytes")
        self.copies.append(start_ns, end_ns, *_place(event, arguments), size_bytes, *kinds, *ends)

    def _add_memset(self, event: Event, start_ns: int, end_ns: int) -> None:
        arguments = _arguments(event)
        self.memsets.append(start_ns, end_ns, *_place(event, arguments), _optional(arguments, "bytes"))

    def _add_call(self, event: Event, start_ns: int, end_ns: int, event_class: int = 0) -> None:
        correlation_id = _optional(_arguments(event), "correlation")
        self.calls.append(start_ns, end_ns, self._thread(event), correlation_id, self._name_id(event), event_class)

    def _add_driver_call(self, event: Event, start_ns: int, end_ns: int) -> None:
        self._add_call(event, start_ns, end_ns, event_class=1)

    def _add_operator(self, event: Event, start_ns: int, end_ns: int) -> None:
        arguments = _arguments(event)
        name_id = self._name_id(event, _sizes(arguments.get("Input Dims")))
        self._add_range(event, (start_ns, end_ns), OPERATOR_DOMAIN, name_id)
        if event.get("name") == EVENT_NAME:
            self._add_collective(event, start_ns, end_ns)

    def _add_annotation(self, event: Event, start_ns: int, end_ns: int) -> None:
        self._add_range(event, (start_ns, end_ns), ANNOTATION_DOMAIN, self._name_id(event))

    def _add_range(self, event: Event, times_ns: tuple[int, int], domain_id: int, name_id: int) -> None:
        self.ranges.append(*times_ns, self._thread(event), domain_id, name_id, int(NvtxEvent.PUSH_POP), ABSENT)

    def _add_collective(self, event: Event, start_ns: int, end_ns: int) -> None:
        called = collective_parameters(_arguments(event))
        if called is not None:
            texts = [self.names.id_of(text) for text in (called.kind.value, called.dtype, called.group)]
            thread = self._thread(event)
            numbers = (called.group_size, called.size_bytes, called.sends_to, called.receives_from, called.sequence)
            self.collectives.append(start_ns, end_ns, thread, *texts, *numbers)

    def _add_mark(self, _event: Event, start_ns: int, end_ns: int) -> None:
        """The span of the profiler itself: its session began and ended so."""
        self.marks.append(start_ns, end_ns)

    def _add_allocator_state(self, event: Event, start_ns: int, _end_ns: int) -> None:
        """What the allocator of a GPU had in use and reserved; releases of PyTorch before 1.12 do not say."""
        arguments = _arguments(event)
        totals = _optional(arguments, "Total Allocated"), _optional(arguments, "Total Reserved")
        device_id = _optional(arguments, "Device Id")
        if (
            event.get("name") == _MEMORY
            and arguments.get("Device Type") == _CUDA
            and ABSENT not in (*totals, device_id)
        ):
            self.allocator_states.append(start_ns, device_id, *totals)

    def _add_label(self, event: Event) -> None:
        """The process whose label says that it is the host's: where only the GPU is traced, nothing else names it."""
        arguments, pid = event.get("args"), event.get("pid")
        if isinstance(arguments, dict) and arguments.get("labels") == "CPU" and type(pid) is int:
            self.labelled_pids.add(pid)

    def _thread(self, event: Event) -> int:
        return self._threads.global_tid(event.get("pid"), event.get("tid"))

    def _name_id(self, event: Event, sizes: str = "") -> int:
        name = event.get("name")
        return self.names.id_of(name + sizes) if isinstance(name, str) else ABSENT


def _arguments(event: Event) -> Event:
    arguments = event.get("args")
    return arguments if isinstance(arguments, dict) else {}


def _place(event: Event, arguments: Event) -> tuple[int, int, int, int]:
    """Device, context, stream and correlation; a device the arguments do not name is the event's own process."""
    for device_id in (arguments.get("device"), arguments.get("inDevice"), event.get("pid")):
        if type(device_id) is int:
            return (
                device_id,
                _optional(arguments, "context"),
                _optional(arguments, "stream"),
                _optional(arguments, "correlation"),
            )
    raise ValueError("no device")


def _optional(arguments: Event, key: str) -> int:
    value = arguments.get(key)
    return value if type(value) is int else ABSENT


def _sizes(dimensions: object) -> str:
    """The shapes of an operator's inputs as PyTorch's ``emit_nvtx`` adds them to its name."""
    known = isinstance(dimensions, list) and dimensions and _is_shape(dimensions, _DEEPEST_SHAPE)
    return f", sizes = {dimensions}" if known else ""


def _axes(value: object) -> tuple[int, int, int]:
    """The sizes along three axes, ``ABSENT`` where they are none."""
    match value:
        case [int(x), int(y), int(z)] if min(x, y, z) >= 0 and max(x, y, z) < _AXIS_LIMIT:
            return x, y, z
    return ABSENT, ABSENT, ABSENT


def _is_shape(value: object, depth: int) -> bool:
    if isinstance(value, list):
        return depth >= 0 and all(_is_shape(part, depth - 1) for part in value)
    return type(value) is int
