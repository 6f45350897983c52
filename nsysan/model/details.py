"""What a report may hold beside work, calls and ranges: large tables that only some questions need."""

from enum import Enum


class Detail(Enum):
    """A kind of records that is read only where an answer that is asked for needs it."""

    KERNEL_SHAPES = "grids, block sizes, registers and shared memory of kernels"
    MEMORY = "memory that was allocated and freed, and pages that were missed"
    COUNTERS = "counters of GPUs and network adapters"
    CPU_SAMPLES = "what threads were found to run"
    GPU_SWITCHES = "which context a GPU ran when"


EVERY_DETAIL = frozenset(Detail)
