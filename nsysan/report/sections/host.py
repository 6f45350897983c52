"""What the host did while the GPUs were at work: calls, waits, launching threads, and who else used the GPUs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nsysan.analysis.host import HostReport, HostView
from nsysan.analysis.launches import Launches
from nsysan.analysis.launching_threads import SampledFunction
from nsysan.analysis.named_calls import CallsOfName
from nsysan.analysis.synchronization import Synchronization, SynchronizationOfDevice
from nsysan.model.results import Skipped
from nsysan.model.run import Run
from nsysan.model.units import counted, format_count, format_duration, format_fraction
from nsysan.report.elements import Table
from nsysan.report.extremes import alike
from nsysan.report.host_tables import call_table, context_table, function_table, launch_table, thread_table, wait_table
from nsysan.report.prose import capitalized, ended, listed
from nsysan.report.section import Layout, Section, View


class HostSection(View, frozen=True):
    """What is to be said of the host, and its tables."""

    sentences: tuple[str, ...]
    tables: tuple[Table, ...]


def _build(run: Run) -> HostSection | None:
    found = run.results.get(HostView)
    if isinstance(found, Skipped):
        return None
    host = found.host
    return HostSection(
        heading=_heading(host),
        context="Times lie between the first and the last work of each report's GPUs. A GPU waits for the threads that "
        "launch, and only a wait while it idles can cost anything.",
        sentences=(*foreign_sentences(host), *(ended(capitalized(reason)) for reason in host.unknown.values())),
        tables=tuple(_tables(run, host)),
    )


def _heading(host: HostReport) -> str:
    if not host.cuda_calls:
        return "CUDA calls were not recorded" if "cuda_calls" in host.unknown else "No CUDA call lies in a window"
    longest = host.cuda_calls[0]
    same = alike(longest, host.cuda_calls, _on_launching)
    take = f"{listed([call.name for call in same])} {'takes' if len(same) == 1 else 'take'} most"
    return f"Of the CUDA calls of {counted(len(host.threads), 'launching thread')}, {take}: {_on_launching(longest)}"


def waits_sentence(run: Run) -> str | None:
    """How long the host waited for the device that idled most of it, how full its queue was, and waits outside CUDA."""
    host, waits = run.results.get(HostView), run.results.get(Synchronization)
    if isinstance(host, Skipped) or isinstance(waits, Skipped):
        return None
    device = max(waits.synchronization, key=lambda found: (found.in_idle_ns, found.total_ns))
    told = [_waited(device), *_queue(run, device.device)]
    blocked = next((call for call in host.host.os_calls if call.on_launching_ns), None)
    if blocked is not None:
        told.append(f"In the operating system launching threads spent {_on_launching(blocked)} in {blocked.name}")
    return ". ".join(told) + "."


def _waited(found: SynchronizationOfDevice) -> str:
    if not found.total_ns:
        return f"No synchronisation made the host wait for {found.device}"
    in_all, in_idle = format_duration(found.total_ns), format_duration(found.in_idle_ns)
    return f"The host waited {in_all} for {found.device}, {in_idle} of it while that idled"


def _queue(run: Run, device: str) -> Iterator[str]:
    launches = run.results.get(Launches)
    for found in () if isinstance(launches, Skipped) else launches.launches:
        if found.device == device and found.empty_queue_frac is not None:
            yield f"{format_fraction(found.empty_queue_frac)} of its launches found nothing queued"


def _on_launching(call: CallsOfName) -> str:
    return format_duration(call.on_launching_ns)


def foreign_sentences(host: HostReport) -> Iterator[str]:
    """Contexts of processes that were not recorded, and what of the idle time they had; whether MPS runs."""
    foreign = [context for context in host.gpu_contexts if context.is_recorded is False]
    if foreign:
        resident_ns = sum(context.resident_ns for context in foreign)
        idle_ns = [context.in_idle_ns for context in foreign if context.in_idle_ns is not None]
        idle = f", {format_duration(sum(idle_ns))} of it while the recorded work idled" if idle_ns else ""
        yield (
            f"{counted(len(foreign), 'context')} of processes that were not recorded ran on these GPUs for "
            f"{format_duration(resident_ns)}{idle}."
        )
    elif host.gpu_contexts and any(context.is_recorded for context in host.gpu_contexts):
        yield "Only contexts of recorded processes ran on these GPUs."
    elif host.gpu_contexts:
        yield "Contexts ran whose process ids match no recorded process, as from inside a container: whose is unknown."
    if host.runs_mps:
        yield "A server of CUDA's Multi-Process Service runs: what other processes do through it does not show here."
    if host.functions:
        yield _most_often(host.functions)


def _most_often(functions: Sequence[SampledFunction]) -> str:
    top = functions[0]
    same = alike(top, functions, lambda function: format_fraction(function.sample_frac))
    names = top.name if len(same) == 1 else f"{format_count(len(same))} functions alike"
    return f"Found on a core, launching threads were most often in {names}: {format_fraction(top.sample_frac)}."


def _tables(run: Run, host: HostReport) -> Iterator[Table]:
    launches, waits = run.results.get(Launches), run.results.get(Synchronization)
    yield thread_table(host.threads)
    if not isinstance(launches, Skipped):
        yield launch_table(launches.launches)
    if not isinstance(waits, Skipped):
        yield wait_table(waits.synchronization)
    yield call_table("cuda-calls", "CUDA calls by function", "host.cuda_calls[]", host.cuda_calls)
    if host.os_calls:
        yield call_table("os-calls", "Calls of the operating system by function", "host.os_calls[]", host.os_calls)
    if host.functions:
        yield function_table(host.functions)
    if host.gpu_contexts:
        yield context_table(host.gpu_contexts)


SECTION = Section("host", 26, "Host", "What the host did meanwhile", _build, Layout.WIDE)
