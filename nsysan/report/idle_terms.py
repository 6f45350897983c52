"""The definitions of the causes of idle time, which the page links to."""

from __future__ import annotations

from nsysan.report.elements import Term

IDLE_TERMS = (
    Term(
        "profiler_overhead",
        "Profiler overhead",
        "The GPU idles because the profiler held the host thread up or flushed its buffers: without it this is gone.",
    ),
    Term("data_loading", "Data loading", "The GPU idles while the host thread it waits for fetches or awaits a batch."),
    Term("checkpoint", "Checkpoint", "The GPU idles while the host thread it waits for writes or reads a checkpoint."),
    Term("garbage_collection", "Garbage collection", "The GPU idles while Python on the host collects garbage."),
    Term(
        "host_communication",
        "Host communication",
        "The GPU idles while the host thread it waits for communicates with other processes.",
    ),
    Term(
        "host_sync",
        "Host sync",
        "The GPU idles because the host waited for it to finish before it launched more, and until it has launched.",
    ),
    Term(
        "blocking_copy",
        "Blocking copy",
        "The GPU idles while the host thread is held in a copy that blocks it: pageable memory, or a copy not "
        "asynchronous.",
    ),
    Term("allocator", "Allocator", "The GPU idles while the host thread allocates, frees, maps or registers memory."),
    Term(
        "module_loading",
        "Module loading",
        "The GPU idles while code is loaded or compiled: at start-up, or when a kernel runs for the first time.",
    ),
    Term("graph_build", "Graph build", "The GPU idles while the host captures, builds or updates a CUDA graph."),
    Term("slow_launch", "Slow launch", "The GPU idles during a launch call that took over 100 µs."),
    Term(
        "os_blocked",
        "Blocked by the operating system",
        "The GPU idles while the host thread it waits for is in a call of the operating system, or off its core.",
    ),
    Term(
        "launch_starved",
        "Launch starved",
        "The GPU has nothing to do: the host thread runs, but has not launched the next work yet.",
    ),
    Term(
        "launch_latency",
        "Launch latency",
        "The GPU idles from the begin of the launching call to the begin of its work: each launch costs so much.",
    ),
    Term(
        "handover",
        "Handover",
        "Work was launched before the GPU ran dry, and up to 20 µs pass between the end of one activity and the next.",
    ),
    Term(
        "device_wait",
        "Device wait",
        "Work was launched in time, yet begins over 20 µs after the GPU ran dry. What it waited for is not recorded: "
        "mostly another stream or an event, under Windows launches that are sent in batches.",
    ),
    Term("unified_memory", "Unified memory", "The GPU idles until the driver has moved pages of unified memory."),
    Term(
        "unknown", "Unknown", "No call is known that launched what ended the gap, so nothing tells what it waited for."
    ),
)
