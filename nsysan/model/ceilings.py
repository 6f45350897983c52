"""What a machine was measured to reach: the content of a ``ceilings.json``.

A value that is not known is null, never 0. Every figure has the median of its samples and says how they spread, how the
GPU ran meanwhile, and what a reader must know to trust it.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import msgspec

from nsysan.model.kernels import Collective

SCHEMA_VERSION = 1

Positive = Annotated[float, msgspec.Meta(gt=0)]
NotNegative = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Size = Annotated[int, msgspec.Meta(gt=0, le=1 << 62)]


class Origin(str, Enum):
    """Where the figures of a file come from; ``SIMULATED``: a data sheet, for trying out what reads the file."""

    MEASURED = "measured"
    IMPORTED = "imported"
    SIMULATED = "simulated"


class Dtype(str, Enum):
    """What a matrix product multiplies, by the names that frameworks use."""

    FP64 = "fp64"
    FP32 = "fp32"
    TF32 = "tf32"
    BF16 = "bf16"
    FP16 = "fp16"
    FP8 = "fp8"
    INT8 = "int8"
    MXFP8 = "mxfp8"
    NVFP4 = "nvfp4"


class Transposes(str, Enum):
    """Which factor of a product is stored transposed, in BLAS' column order: a linear layer forward is ``TN``."""

    TN = "TN"
    NN = "NN"
    NT = "NT"


class Regime(str, Enum):
    """How long the GPU had been at work: long enough for its power limit to bind, or just woken."""

    SUSTAINED = "sustained"
    BURST = "burst"


class Algorithm(str, Enum):
    """Which algorithm of cuBLASLt ran: its first proposal with a framework's workspace, or the fastest of many."""

    HEURISTIC = "heuristic"
    BEST = "best"


class Pattern(str, Enum):
    """What a kernel does with device memory: ``a = b``, ``a = b + s * c``."""

    COPY = "copy"
    TRIAD = "triad"


class Direction(str, Enum):
    """Where a copy goes."""

    HOST_TO_DEVICE = "host_to_device"
    DEVICE_TO_HOST = "device_to_host"
    PEER_TO_PEER = "peer_to_peer"


class HostMemory(str, Enum):
    """What the host's side of a copy is; null for copies between GPUs."""

    PINNED = "pinned"
    PAGEABLE = "pageable"


class Launch(str, Enum):
    """What of launching takes the time."""

    KERNEL_CALL = "kernel_call"
    """The host's call, one of many back to back."""
    KERNEL_ROUND_TRIP = "kernel_round_trip"
    """From the call until the host knows that an empty kernel is done."""
    GRAPH_CALL = "graph_call"
    """The call that launches a graph of empty kernels."""
    GRAPH_NODE = "graph_node"
    """Each empty kernel of a graph, on the GPU."""


class Mode(str, Enum):
    """How the GPUs of a collective were driven: their curves are different objects."""

    ONE_PROCESS = "one_process"
    PROCESS_PER_GPU = "process_per_gpu"


class Timing(str, Enum):
    """Whether calls were queued one behind the other, as nccl-tests does, or each began from a barrier."""

    PIPELINED = "pipelined"
    ISOLATED = "isolated"


class Spread(msgspec.Struct, frozen=True):
    """How samples spread, all in ns: nearest-rank percentiles, and the median distance from the median (``mad``)."""

    count: Size
    median: NotNegative
    p5: NotNegative
    p95: NotNegative
    least: NotNegative
    mad: NotNegative
    samples: tuple[NotNegative, ...] = ()
    """The samples themselves where they are few."""


class Conditions(msgspec.Struct, frozen=True):
    """How the GPU ran while a figure was taken, as far as NVML told it."""

    sm_clock_least_hz: Positive | None = None
    sm_clock_mean_hz: Positive | None = None
    memory_clock_hz: Positive | None = None
    power_mean_w: NotNegative | None = None
    temperature_most_celsius: float | None = None
    throttle_reasons: tuple[str, ...] = ()


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """What every measured figure has beside its value."""

    time_ns: Spread | None = None
    conditions: Conditions | None = None
    warnings: tuple[str, ...] = ()


class GemmCeiling(Measurement, kw_only=True, frozen=True):
    """A matrix product of 2 m n k floating-point operations."""

    dtype: Dtype
    transposes: Transposes
    m: Size
    n: Size
    k: Size
    regime: Regime
    algorithm: Algorithm
    flop_per_s: Positive


class MemoryCeiling(Measurement, kw_only=True, frozen=True):
    """Device memory as a kernel streams through it: bytes read and written over time."""

    pattern: Pattern
    size_bytes: Size
    bytes_per_s: Positive


class LinkCeiling(Measurement, kw_only=True, frozen=True):
    """Copies of one size; ``gpu`` and ``peer`` count the machine's GPUs, ``peer`` is null where the host is."""

    direction: Direction
    host_memory: HostMemory | None
    gpu: Count
    peer: Count | None
    size_bytes: Size
    bytes_per_s: Positive


class LaunchCeiling(Measurement, kw_only=True, frozen=True):
    """What a launch costs."""

    launch: Launch
    each_ns: Positive


class CurvePoint(Measurement, kw_only=True, frozen=True):
    """One size of a collective; ``size_bytes`` is S of nccl-tests, the whole array.

    ``busbw_bytes_per_s`` is null where it has no meaning: with one rank. ``wrong_count`` elements were wrong, null: not
    looked.
    """

    size_bytes: Size
    each_ns: Positive
    algbw_bytes_per_s: Positive
    busbw_bytes_per_s: Positive | None
    wrong_count: Count | None = None


class CollectiveCurve(msgspec.Struct, frozen=True):
    """A collective over sizes, in order of size. ``registered``: buffers were registered with NCCL."""

    kind: Collective
    dtype: str
    in_place: bool
    rank_count: Size
    node_count: Size
    mode: Mode
    timing: Timing
    registered: bool
    nccl_version: str | None
    points: tuple[CurvePoint, ...]


class MeasuredGpu(msgspec.Struct, frozen=True):
    """A GPU of the machine. ``uuid_hash`` is of the file's salt and the UUID; ``capability`` is as ``9.0``."""

    name: str
    capability: str | None
    sm_count: Size | None
    memory_bytes: Size | None = None
    uuid_hash: str | None = None
    bus_id: str | None = None
    l2_bytes: Size | None = None
    sm_clock_most_hz: Positive | None = None
    memory_clock_most_hz: Positive | None = None
    memory_bus_bits: Size | None = None
    power_limit_w: Positive | None = None
    power_limit_default_w: Positive | None = None
    has_ecc: bool | None = None
    is_mig: bool | None = None
    pcie_generation: Size | None = None
    pcie_width: Size | None = None
    nvlink_count: Count | None = None
    temperature_celsius: float | None = None
    other_process_count: Count | None = None


class Library(msgspec.Struct, frozen=True):
    """A library that took part: its version as it tells it, and where it was loaded from.

    ``path`` is whole where the system has it, begins at ``site-packages`` in a Python package, else is a file's name.
    """

    name: str
    version: str | None
    path: str | None


class Topology(msgspec.Struct, frozen=True):
    """How each GPU reaches each other, row by row in the words of ``nvidia-smi topo``.

    ``hash`` is the same whatever order the GPUs have.
    """

    links: tuple[tuple[str, ...], ...]
    hash: str


class Waived(msgspec.Struct, frozen=True):
    """A measurement that could not be taken on this machine, and why."""

    measurement: str
    reason: str


class Ceilings(msgspec.Struct, frozen=True, kw_only=True):
    """A whole file. ``source`` says in a few words who measured; ``salt`` is what UUIDs were hashed with."""

    schema_version: int
    nsysan_version: str
    origin: Origin
    source: str
    created_utc: str | None
    gpus: tuple[MeasuredGpu, ...]
    gemm: tuple[GemmCeiling, ...] = ()
    memory: tuple[MemoryCeiling, ...] = ()
    links: tuple[LinkCeiling, ...] = ()
    launches: tuple[LaunchCeiling, ...] = ()
    collectives: tuple[CollectiveCurve, ...] = ()
    waived: tuple[Waived, ...] = ()
    warnings: tuple[str, ...] = ()
    salt: str | None = None
    duration_s: NotNegative | None = None
    forced: bool = False
    """Measured although something spoke against it, such as other processes on the GPU."""
    driver_version: str | None = None
    cuda_version: str | None = None
    libraries: tuple[Library, ...] = ()
    environment: dict[str, str | None] = msgspec.field(default_factory=dict)
    """The variables that change what the libraries do; null where the value may name a machine or a path."""
    host: dict[str, str] = msgspec.field(default_factory=dict)
    topology: Topology | None = None
    node_count: Size = 1
