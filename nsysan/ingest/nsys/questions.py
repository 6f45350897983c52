"""What a report must hold to answer a question, and what would have recorded it.

This list is the place to add a question: nothing else names it but the documentation.
"""

from __future__ import annotations

import msgspec


class Evidence(msgspec.Struct, frozen=True):
    """Rows of a table; with ``column`` rows that hold a value there, with ``like`` one that fits an SQL pattern.

    A column of NVTX events holds the names that are not in StringIds, so that a name is looked for in both. With
    ``is_timed`` rows of GPU work that can be counted: all they need is there, and their times are possible.
    """

    table: str
    column: str | None = None
    like: str | None = None
    is_timed: bool = False


class Question(msgspec.Struct, frozen=True):
    """Answered by any of ``answered_by``. Where ``raised_by`` is given, it is put only to a report that holds any."""

    id: str
    question: str
    answered_by: tuple[Evidence, ...]
    lacking: str
    """What the report holds none of, as the end of "it holds no"."""
    recapture: str
    raised_by: tuple[Evidence, ...] = ()


_KERNEL = "CUPTI_ACTIVITY_KIND_KERNEL"
_GRAPH = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
_GPU_WORK = (_KERNEL, "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET", _GRAPH)
_NVTX = ("NVTX_EVENTS", "NVTX_EVENTS_V2")
_ANY_GPU_WORK = tuple(map(Evidence, _GPU_WORK))
# emit_nvtx(record_shapes=True) appends the operands' shapes to the name of each operator's range
_SHAPES = "%sizes = [%"
_KERNEL_LAUNCHES = ("cudaLaunchKernel", "cudaLaunchCooperativeKernel", "cuLaunchKernel", "cuLaunchCooperativeKernel")
_NCCL_KERNELS = (Evidence("StringIds", "value", "nccl%kernel%"),)

QUESTIONS = (
    Question(
        id="gpu_time",
        question="Where did the GPUs' time go, and how much communication was hidden?",
        answered_by=tuple(Evidence(table, is_timed=True) for table in _GPU_WORK),
        lacking="GPU work that can be counted",
        recapture="-t cuda",
    ),
    Question(
        id="kernels",
        question="What did the GPUs compute?",
        answered_by=(Evidence(_KERNEL, is_timed=True), Evidence(_GRAPH, is_timed=True)),
        lacking="kernels that can be counted",
        recapture="-t cuda, stopped before the process exits, and exported with all tables",
        raised_by=(Evidence(_KERNEL), *(Evidence("StringIds", "value", f"{call}%") for call in _KERNEL_LAUNCHES)),
    ),
    Question(
        id="ranges",
        question="Which part of the program was it, and which training step?",
        answered_by=tuple(Evidence(table, "end") for table in _NVTX),
        lacking="NVTX ranges",
        recapture="-t nvtx, with NVTX ranges in the program",
    ),
    Question(
        id="idle_causes",
        question="What did an idle GPU wait for?",
        answered_by=(Evidence("CUPTI_ACTIVITY_KIND_RUNTIME"),),
        lacking="CUDA calls",
        recapture="-t cuda",
    ),
    Question(
        id="os_waits",
        question="Did the host wait in the operating system, for files or locks?",
        answered_by=(Evidence("OSRT_API"),),
        lacking="operating system calls",
        recapture="-t osrt",
    ),
    Question(
        id="context_switches",
        question="Was the launching thread taken off its CPU?",
        answered_by=(Evidence("SCHED_EVENTS"),),
        lacking="context switches",
        recapture="--cpuctxsw=process-tree",
    ),
    Question(
        id="cpu_samples",
        question="What code did the host run meanwhile?",
        answered_by=(Evidence("COMPOSITE_EVENTS"),),
        lacking="CPU samples",
        recapture="--sample=process-tree",
    ),
    Question(
        id="memory",
        question="How much GPU memory was taken, and when?",
        answered_by=(Evidence("CUDA_GPU_MEMORY_USAGE_EVENTS"),),
        lacking="memory events",
        recapture="--cuda-memory-usage=true",
    ),
    Question(
        id="gpu_metrics",
        question="How busy were SMs, tensor cores and DRAM?",
        answered_by=(Evidence("GPU_METRICS"), Evidence("GENERIC_EVENTS", "data", "%SM%Active%")),
        lacking="GPU metrics",
        recapture="--gpu-metrics-devices=all (nsys 2023.4: --gpu-metrics-device=all)",
    ),
    Question(
        id="gpu_sharing",
        question="Did another process run on the GPUs?",
        answered_by=(Evidence("GPU_CONTEXT_SWITCH_EVENTS"), Evidence("FECS_EVENTS")),
        lacking="context switches of GPUs",
        recapture="--gpuctxsw=true",
    ),
    Question(
        id="network_counters",
        question="How much did the network adapters move?",
        answered_by=(Evidence("NET_NIC_METRIC"),),
        lacking="counters of network adapters",
        recapture="--nic-metrics=lf (before nsys 2026.2: --nic-metrics=true)",
        raised_by=_NCCL_KERNELS,
    ),
    Question(
        id="nccl_bytes",
        question="How many bytes did each NCCL call move?",
        answered_by=tuple(Evidence(table, column) for table in _NVTX for column in ("binaryData", "jsonText")),
        lacking="payloads of NVTX ranges",
        recapture="-t nvtx, exported by an nsys that has --include-blobs=true; or -t nccl (from nsys 2025.6.1 and "
        "NCCL 2.28 on)",
        raised_by=_NCCL_KERNELS,
    ),
    Question(
        id="gemm_shapes",
        question="What shapes did the matrix products have?",
        answered_by=(
            *(Evidence(table, "text", _SHAPES) for table in _NVTX),
            Evidence("StringIds", "value", _SHAPES),
        ),
        lacking="operators with shapes",
        recapture="-t nvtx under torch.autograd.profiler.emit_nvtx(record_shapes=True), or in a newer nsys "
        "--pytorch=autograd-shapes-nvtx",
        raised_by=(Evidence(_KERNEL),),
    ),
    Question(
        id="graph_kernels",
        question="What ran inside CUDA graphs?",
        answered_by=(Evidence(_KERNEL, "graphNodeId"),),
        lacking="kernels of graphs, only their launches",
        recapture="--cuda-graph-trace=node",
        raised_by=(Evidence(_GRAPH), Evidence("StringIds", "value", "cudaGraphLaunch%")),
    ),
    Question(
        id="communicators",
        question="Which ranks spoke with each other?",
        answered_by=(
            Evidence("MPI_COMMUNICATORS"),
            Evidence("MPI_RANKS"),
            *(Evidence(table, "binaryData") for table in _NVTX),
        ),
        lacking="communicators",
        recapture="-t nvtx from before NCCL starts, exported as for NCCL bytes; -t mpi for MPI",
        raised_by=(
            *_NCCL_KERNELS,
            Evidence("StringIds", "value", "MPI_%"),
            *(Evidence(table, "text", "MPI_%") for table in _NVTX),
        ),
    ),
    Question(
        id="gpu_identity",
        question="Which model of GPU was it, and what can it reach?",
        answered_by=(Evidence("TARGET_INFO_GPU", "name"),),
        lacking="name of a GPU",
        recapture="-t cuda, exported with all tables",
    ),
    Question(
        id="device_identity",
        question="Which GPU was each process' CUDA device?",
        answered_by=(Evidence("TARGET_INFO_CUDA_DEVICE"),),
        lacking="CUDA devices by process",
        recapture="-t cuda with nsys 2025.1 or newer",
        raised_by=_ANY_GPU_WORK,
    ),
)

EVIDENCE_TABLES = frozenset(
    evidence.table for question in QUESTIONS for evidence in (*question.answered_by, *question.raised_by)
)
"""Every table that a question looks into."""
