"""The kinds of host records, by the numbers nsys writes."""

from nsysan.model.codes import Code


class NvtxEvent(Code):
    """What an NVTX record is (ENUM_NSYS_EVENT_TYPE); the imported ones come from an nvtxt file."""

    CATEGORY = 33
    MARK = 34
    PUSH_POP = 59
    START_END = 60
    IMPORTED_PUSH_POP = 70
    IMPORTED_START_END = 71
    DOMAIN_CREATE = 75


STACKED = (int(NvtxEvent.PUSH_POP), int(NvtxEvent.IMPORTED_PUSH_POP))
"""Ranges that open and close like brackets on one thread; the others may end on any thread, in any order."""


def unnamed_domain(domain_id: int) -> str:
    """What an NVTX domain is called whose name was not recorded: ``domain 3``, and 0 is the one that nobody made."""
    return f"domain {domain_id}" if domain_id else "default"


class Overhead(Code):
    """What the profiler or the driver was doing (ENUM_CUPTI_OVERHEAD_TYPE)."""

    UNDEFINED = 0
    UNKNOWN = 1
    DRIVER_COMPILER = 2
    BUFFER_FLUSH = 3
    INSTRUMENTATION = 4
    RESOURCE = 5
    MODULE_LOADING = 6
    LAZY_FUNCTION_LOADING = 7
    COMMAND_BUFFER_FULL = 8


class Synchronization(Code):
    """What a synchronisation waits for; ``STREAM_WAIT_EVENT`` is a wait of the device, no host thread waits."""

    UNKNOWN = 0
    EVENT = 1
    STREAM_WAIT_EVENT = 2
    STREAM = 3
    CONTEXT = 4


class SwitchTag(Code):
    """What happened to a context on a GPU (ENUM_GPU_CTX_SWITCH); it runs from ``RESTORE_START`` to ``SAVE_END``."""

    SAVE_END = 7
    RESTORE_START = 8
    CONTEXT_START = 9
