"""The kinds of copies and of memories, by the numbers nsys writes (ENUM_CUDA_MEMCPY_OPER, ENUM_CUDA_MEM_KIND)."""

from nsysan.model.codes import Code


class CopyKind(Code):
    """From where to where a copy goes. Kind 8 joins two devices where its two device ids differ."""

    UNKNOWN = 0
    HOST_TO_DEVICE = 1
    DEVICE_TO_HOST = 2
    HOST_TO_ARRAY = 3
    ARRAY_TO_HOST = 4
    ARRAY_TO_ARRAY = 5
    ARRAY_TO_DEVICE = 6
    DEVICE_TO_ARRAY = 7
    DEVICE_TO_DEVICE = 8
    HOST_TO_HOST = 9
    PEER_TO_PEER = 10
    UNIFIED_HOST_TO_DEVICE = 11
    UNIFIED_DEVICE_TO_HOST = 12
    UNIFIED_DEVICE_TO_DEVICE = 13


UNIFIED_KINDS = (CopyKind.UNIFIED_HOST_TO_DEVICE, CopyKind.UNIFIED_DEVICE_TO_HOST, CopyKind.UNIFIED_DEVICE_TO_DEVICE)
"""The copies that the driver makes of itself, to move unified memory: no call launches them."""


class MemoryKind(Code):
    """What kind of memory an end of a copy is."""

    PAGEABLE = 0
    PINNED = 1
    DEVICE = 2
    ARRAY = 3
    MANAGED = 4
    DEVICE_STATIC = 5
    MANAGED_STATIC = 6
    UNKNOWN = 7


class MemoryOperation(Code):
    """What became of memory (ENUM_CUDA_DEV_MEM_EVENT_OPER)."""

    ALLOCATION = 0
    DEALLOCATION = 1
