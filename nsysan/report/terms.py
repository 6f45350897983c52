"""The definitions the page links to, by id, in the order they are listed."""

from __future__ import annotations

from nsysan.report.collective_terms import COLLECTIVE_TERMS
from nsysan.report.column_terms import COLUMN_TERMS
from nsysan.report.elements import Term
from nsysan.report.idle_terms import IDLE_TERMS

_DEFINITIONS = (
    Term(
        "window",
        "Window",
        "From the first activity of a GPU to its last, unless another window was asked for. Activities are cut at its "
        "edges, never dropped.",
    ),
    Term("compute_only", "Compute only", "Compute kernels run, and no communication runs beside them."),
    Term("overlapped", "Overlapped", "Compute kernels run, and communication runs beside them, hidden."),
    Term("fused", "Fused", "Kernels run that communicate and compute at once, and no plain compute kernel does."),
    Term(
        "opaque_graph",
        "Opaque graph",
        "A CUDA graph runs that was recorded as a whole, and no recorded kernel explains the time. Which kernels ran "
        "is unknown, so the GPU is at most busy.",
    ),
    Term(
        "exposed_communication",
        "Exposed communication",
        "Communication runs (collective and point-to-point kernels, copies between GPUs), and no compute hides it. "
        "It may be transfer or waiting for another rank.",
    ),
    Term("exposed_copy", "Exposed copy", "Copies or memsets run, and neither compute nor communication does."),
    Term("idle", "Idle", "Nothing runs on the GPU: no kernel, no graph, no copy, no memset."),
    *IDLE_TERMS,
    Term(
        "range",
        "Range",
        "A named stretch of time that the program or a library marks on a host thread. Ranges whose names differ in "
        "nothing but numbers that count share a name.",
    ),
    Term(
        "range_cpu",
        "CPU time of a range",
        "Time inside ranges of the name on their threads; self is the part that no range nested inside has.",
    ),
    Term(
        "range_gpu",
        "GPU time of a range",
        "Length of the GPU work whose call begins inside ranges of the name; self is the part whose call is in no "
        "range nested inside. Work that runs side by side counts each time.",
    ),
    Term(
        "range_starved",
        "GPU starved",
        "Idle time in which the GPU waited for the thread to launch work while this was its innermost range.",
    ),
    Term(
        "step",
        "Step",
        "From the first kernel of one training step to the first of the next, on the stream of the device that "
        "computes most: steps leave no time between them.",
    ),
    Term(
        "steady",
        "Steady step",
        "A step that counts: neither warm-up nor disturbed by the profiler. All figures of steps are of these.",
    ),
    Term(
        "stage",
        "Stage",
        "What a step is doing: data, copy to the device, forward, backward, gradient synchronization that nothing "
        "hides, optimizer, or other. A nanosecond belongs to one stage, or to none where nothing tells which.",
    ),
    Term(
        "host_time",
        "Host time of a stage",
        "Time of the host from the launch of a step's first kernel to that of the next step's, by the range that the "
        "main thread is in, else by what is launched next.",
    ),
    Term(
        "told_by",
        "Told by",
        "Ranges around the launching call are sure; kernels are told by their names, their thread or their collective; "
        "order is what was launched before and after. High: ranges tell 90 %. Low: order tells over half.",
    ),
    Term(
        "compared",
        "Compared",
        "Time that communication ran beside compute kernels which also ran alone, with the same name, grid and block "
        "(three times each at least), and which do not vary when alone.",
    ),
    Term(
        "slowdown",
        "Slowdown",
        "What these kernels took longer by beside communication: their count times the difference of the medians. The "
        "net gain is the time compared less that.",
    ),
    Term(
        "queued",
        "Queued",
        "Communication whose call had returned, whose stream was free and that had nothing launched before it to wait "
        "for, but began only when compute had ended that was launched later.",
    ),
    Term(
        "compute_waits",
        "Compute waits",
        "Compute that was launched, on a stream that was free, while communication ran, and began when that had ended: "
        "it depends on it, or found no room.",
    ),
    Term(
        "same_stream",
        "On the compute stream",
        "Share of the communication kernels' time on the stream that computes most, where no compute can hide them.",
    ),
    Term("p90", "p90", "90 of 100 durations are no longer than this, by nearest rank."),
    Term(
        "start_up",
        "Start-up",
        "What happens once: up to the first step that is no warm-up, or without steps until every kernel that matters "
        "has run once.",
    ),
    Term(
        "compute_busy",
        "Compute busy",
        "Share of the window in which compute or fused kernels run. Kernels that run at once count once.",
    ),
    Term(
        "device_active",
        "Device active",
        "Share of the window that is not idle; nvidia-smi would call it utilisation. A collective that only waits "
        "looks active too.",
    ),
    Term(
        "overlap",
        "Overlap",
        "Of the time in which communication runs and fused kernels do not, the share with compute beside it: "
        "hidden / (hidden + exposed).",
    ),
    Term(
        "exposed_range",
        "Exposed communication, at most",
        "Communication that ran beside a graph recorded as a whole may be hidden or not. The part counts it as hidden; "
        "this is the time if none of it is.",
    ),
    Term(
        "work",
        "Work volume",
        "The durations of all activities in the window, added up. What runs at once is counted each time, so this is a "
        "volume and no time: it may exceed the window.",
    ),
    Term(
        "gap",
        "Idle gap",
        "A stretch of the window in which nothing runs on the GPU. The gaps of a GPU add up to its idle time.",
    ),
    Term("before", "Ran before", "The activity that ended as the gap began."),
    Term("after", "Ran after", "The activity whose begin ended the gap."),
    Term(
        "session_time",
        "Session time",
        "Time since the profiling session began, as the ruler of the profiler's own viewer shows it.",
    ),
    Term(
        "outside_window",
        "Idle outside the window",
        "The idle time of the capture before the window (lead) and after it (trail). It is no part of the partition.",
    ),
    Term(
        "device",
        "Device",
        "A GPU as one process of one report saw it. A GPU that several processes share is several devices.",
    ),
    Term(
        "excluded_record",
        "Excluded record",
        "A record with no time, negative length or impossible values. It is counted and takes no part in any figure.",
    ),
    Term(
        "kernel_class",
        "Kernel class",
        "What a kernel does, as far as its name tells. Names of no known family are other; they count as compute.",
    ),
    Term(
        "kernel_time",
        "Kernel time",
        "The durations of these kernels within the windows, added up over all GPUs. Kernels that run at once are "
        "counted each.",
    ),
    Term(
        "work_share",
        "Share of kernel time",
        "Time of these kernels over that of all kernels: a share of work, not of the window.",
    ),
    Term(
        "median", "Median", "Half of the durations are shorter. With an even count, the mean of the two in the middle."
    ),
    Term("p95", "p95", "95 of 100 durations are no longer than this, by nearest rank."),
    Term(
        "memory_kind",
        "Pageable and pinned",
        "Pinned host memory is read by the GPU directly. Pageable memory goes through a buffer of the driver first: "
        "such copies are slower and block the host.",
    ),
    Term(
        "copy_time",
        "Time of copies",
        "The durations of these copies within the windows, added up over all GPUs, hidden under other work or not.",
    ),
    Term("copy_rate", "Rate", "Bytes over time of the whole copies. GB is 1,000,000,000 bytes."),
    Term(
        "fastest_copy",
        "Fastest copy",
        "The highest rate of a single copy. Copies faster than their link can be, or with bytes moved in no time, are "
        "not believable: the record's size or time is wrong.",
    ),
    *COLLECTIVE_TERMS,
    Term(
        "off_core",
        "Off its core",
        "The operating system had taken the thread off, be it that it waited for something or that another ran.",
    ),
    Term(
        "launch_to_work",
        "Call to work",
        "From the begin of a launching call to the begin of the first work it launched.",
    ),
    Term(
        "queue_depth",
        "Queue",
        "Activities of the device that earlier calls had launched and that had not ended when the next call began. "
        "Where it is empty, the GPU waits for the host.",
    ),
    Term(
        "host_wait",
        "Wait for the GPU",
        "Time in which a thread of the process waited for the GPU. While the GPU works that costs nothing.",
    ),
    Term(
        "call_time",
        "Time of calls",
        "The lengths of these calls within the window, added up over threads; a call inside another counts too.",
    ),
    Term(
        "gpu_context",
        "Context",
        "What a process has on a GPU. A GPU runs one at a time and switches between those of several processes, "
        "unless these share one through CUDA's Multi-Process Service.",
    ),
    Term(
        "memory_source",
        "Counted by",
        "The driver counts what it hands out; PyTorch's allocator takes large blocks from it (reserved) and gives "
        "parts of them to tensors (used). The figures are never mixed.",
    ),
    Term(
        "memory_at_start",
        "From the start",
        "Memory that was freed while it was recorded, but taken before: it was in use from the start.",
    ),
    Term(
        "page_fault",
        "Page fault",
        "GPU or host touched a page of unified memory that was not there: it has to be moved first.",
    ),
    Term(
        "counter",
        "Counter",
        "What the GPU's hardware counted between two samples, as a share of the most it can do. Links count what they "
        "carry for the user and for their protocol.",
    ),
    Term(
        "theoretical_occupancy",
        "Theoretical occupancy",
        "Warps of a kernel that fit on a multiprocessor at once over the warps it can hold, by registers, shared "
        "memory and block size. What really ran there is another matter.",
    ),
    Term(
        "occupancy_limiter",
        "Limited by",
        "What keeps another block of the kernel from the multiprocessor; warps means that it is full.",
    ),
    Term("tokens_per_s", "Throughput", "Tokens trained on per second, over all GPUs of the job."),
    Term(
        "mfu",
        "MFU",
        "Model FLOP utilisation: the model's FLOP per step over step time, world size and the dense peak of the stated "
        "data type.",
    ),
    Term(
        "communication_wait",
        "Communication wait",
        "Exposed waiting for other ranks inside collectives over the window, mean over ranks. Transfer is not in it.",
    ),
    Term(
        "data_wait", "Data wait per step", "Idle time per step in which the GPU waited for input data, mean over ranks."
    ),
    Term("peak_memory", "Peak memory", "The most device memory in use at one moment, on the GPU that needs most."),
    Term(
        "gemm_rate",
        "FLOP/s of a product",
        "2 m n k over the time of the operator's kernels that multiply. Shapes come from ranges; no kernel tells them.",
    ),
    Term(
        "ceiling",
        "Ceiling",
        "What the hardware reaches: measured for this very thing or its neighbours, or else a data sheet's promise.",
    ),
    Term(
        "lost_time", "Lost time", "What of the time is beyond what the same work takes at its ceiling, never below 0."
    ),
    Term(
        "recoverable",
        "Recoverable time",
        "What removing the cause would win per step, as an estimate. Unknown is not zero.",
    ),
    Term(
        "bottleneck_class",
        "Class",
        "Compute, communication, memory, data or scheduling: the five kinds of what can hold a job back.",
    ),
    Term(
        "severity",
        "Severity",
        "Info, warning or critical: how much the finding matters for trusting or using the figures.",
    ),
    Term(
        "fingerprint",
        "Fingerprint",
        "Size of the file and hash of its first and last MiB, enough to know it again. run.json holds the whole hash.",
    ),
    Term(
        "clock",
        "Clock offset",
        "What was added to this report's times to put them on the first report's axis, and how far its ends of common "
        "collectives lie there from the middle of all ranks', by the median.",
    ),
    *COLUMN_TERMS,
)

TERMS = {term.id: term for term in _DEFINITIONS}
