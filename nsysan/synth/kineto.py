"""A simulated rank as the trace that PyTorch's profiler (Kineto) would have written of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from nsysan.model.copies import CopyKind
from nsysan.synth.placement import Placement
from nsysan.synth.process_groups import ProcessGroups
from nsysan.synth.simulation.program import Task, TaskKind
from nsysan.synth.simulation.timelines import GpuWork, Range, RankTimeline, Simulation
from nsysan.synth.training.domains import NCCL_DOMAIN

SYNTHETIC_MARK = '"synthesized_by": "nsysan synth"'
"""Stands in the first line of a synthetic trace: it says that it is one."""

_NS_PER_US = 1_000
_SESSION_START_NS = 10**12
"""Where the session begins in the trace's own time, which counts from a base well before, as in real traces."""
_CONTEXT_ID = 1
_OPERATOR = re.compile(r"(?P<name>.+?), op_id = \d+(?:, sizes = (?P<sizes>.+))?")
_CALL_VERSION = re.compile(r"_v\d+$")

Arguments = Mapping[str, object]


class KinetoTrace:
    """The trace of one rank of a simulated job."""

    def __init__(
        self, timeline: RankTimeline, place: Placement, places: Sequence[Placement], groups: ProcessGroups
    ) -> None:
        self._timeline = timeline
        self._place = place
        self._places = places
        self._groups = groups

    def write(self, path: str | Path) -> Path:
        """Write the trace straight to ``path``, which is replaced, and answer it. Equal ranks make equal bytes."""
        head = {"schemaVersion": 1, "synthesized_by": "nsysan synth", **self._header()}
        events = ",\n".join(self._events())
        Path(path).write_text(f'{json.dumps(head)[:-1]}, "traceEvents": [\n{events}\n]}}\n', encoding="utf-8")
        return Path(path)

    def _header(self) -> Arguments:
        groups = self._groups.of_rank(self._place.rank)
        return {
            "deviceProperties": [_gpu(place) for place in self._places if place.host == self._place.host],
            "distributedInfo": {
                "backend": "nccl",
                "rank": self._place.rank,
                "world_size": len(self._places),
                "pg_count": len(groups),
                "pg_config": groups,
            },
            "displayTimeUnit": "ms",
            "baseTimeNanoseconds": self._place.session.utc_epoch_ns - _SESSION_START_NS,
        }

    def _events(self) -> Iterator[str]:
        host = (self._place.pid, self._place.pid)
        yield json.dumps({"name": "process_labels", "ph": "M", "ts": 0, "pid": host[0], "args": {"labels": "CPU"}})
        for found in self._timeline.ranges:
            if found.domain_id != NCCL_DOMAIN and found.text is not None:
                yield _range_event(found.text, found, host)
        for call in self._timeline.calls:
            category = "cuda_driver" if call.is_driver else "cuda_runtime"
            name = _CALL_VERSION.sub("", call.name)
            yield _event(category, name, host, (call.start_ns, call.end_ns), {"correlation": call.correlation_id})
        for work in self._timeline.works:
            yield self._gpu_event(work)
            if work.task.rendezvous is not None:
                span = (work.call.start_ns, work.call.end_ns)
                for arguments in self._groups.recorded(work.task.rendezvous, self._place.rank):
                    yield _event("cpu_op", "record_param_comms", host, span, arguments)
        yield _event("Trace", "PyTorch Profiler (0)", ("Spans", "PyTorch Profiler"), (0, self._last_ns()), {})

    def _gpu_event(self, work: GpuWork) -> str:
        task, device, stream, launched_by = work.task, self._place.device_id, work.stream_id, work.call.correlation_id
        where = {"device": device, "context": _CONTEXT_ID, "stream": stream, "correlation": launched_by}
        kinds: dict[TaskKind, tuple[str, str, dict[str, object]]] = {
            TaskKind.KERNEL: ("kernel", task.name, _dimensions(task)),
            TaskKind.COPY: ("gpu_memcpy", _copy_name(task), {"bytes": task.size_bytes}),
            TaskKind.MEMSET: ("gpu_memset", "Memset (Device)", {"bytes": task.size_bytes}),
        }
        category, name, size = kinds[task.kind]
        return _event(category, name, (device, stream), (work.start_ns, work.end_ns), where | size)

    def _last_ns(self) -> int:
        host_ends = [span.end_ns for span in self._timeline.spans]
        return max(host_ends + [work.end_ns for work in self._timeline.works], default=0)


def kineto_traces(simulation: Simulation, places: Sequence[Placement]) -> dict[str, KinetoTrace]:
    """The traces by file name, one a rank: the profiler records its own process."""
    groups = ProcessGroups(len(places), simulation.communicators)
    return {place.file: KinetoTrace(simulation.ranks[place.rank], place, places, groups) for place in places}


def _gpu(place: Placement) -> Arguments:
    return {"id": place.gpu_id, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85_028_765_696, "numSms": 132}


def _range_event(text: str, found: Range, host: tuple[int, int]) -> str:
    """An operator with the shapes of its inputs as arguments; any other range is an annotation of the user's."""
    span = (found.start_ns, found.end_ns)
    operator = _OPERATOR.fullmatch(text)
    if operator is None:
        return _event("user_annotation", text, host, span, {})
    shapes = {} if operator["sizes"] is None else {"Input Dims": json.loads(operator["sizes"])}
    return _event("cpu_op", operator["name"], host, span, shapes)


def _dimensions(task: Task) -> dict[str, object]:
    return {"grid": [task.block_count, 1, 1], "block": [128, 1, 1]}


def _copy_name(task: Task) -> str:
    host = task.host_memory.name.title()
    to_device = task.copy_kind == CopyKind.HOST_TO_DEVICE
    return f"Memcpy HtoD ({host} -> Device)" if to_device else f"Memcpy DtoH (Device -> {host})"


def _event(
    category: str, name: str, thread: tuple[int | str, int | str], span: tuple[int, int], arguments: Arguments
) -> str:
    fixed = {"ph": "X", "cat": category, "name": name, "pid": thread[0], "tid": thread[1]}
    start_ns, end_ns = span
    times = f'"ts": {_microseconds(start_ns + _SESSION_START_NS)}, "dur": {_microseconds(end_ns - start_ns)}'
    return f'{json.dumps(fixed)[:-1]}, {times}, "args": {json.dumps(arguments)}}}'


def _microseconds(time_ns: int) -> str:
    """Three decimals, written out: a float would round them."""
    whole, fraction = divmod(time_ns, _NS_PER_US)
    return f"{whole}.{fraction:03}"
