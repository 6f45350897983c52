"""The GPUs of the machine, and which of them a process saw as which CUDA device."""

from __future__ import annotations

from collections.abc import Sequence

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import CUDA_DEVICES, GPUS, SEEN_GPUS
from nsysan.ingest.source import Value, integer, known_text, text
from nsysan.model.trace import CudaDevice, PhysicalGpu, SmLimits

_GPU_COLUMNS = (
    "id",
    "name",
    "uuid",
    "busLocation",
    "smCount",
    "totalMemory",
    "memoryBandwidth",
    "clockRate",
    "computeMajor",
    "computeMinor",
)
_SEEN_GPU_COLUMNS = ("pid", "deviceId", "pciBusId", "name", "numMultiprocessors", "globalMemorySize")
_SM_COLUMNS = (
    "computeMajor",
    "threadsPerWarp",
    "maxWarpsPerSm",
    "maxBlocksPerSm",
    "maxRegistersPerSm",
    "maxShmemPerSm",
)
_CUDA_DEVICE_COLUMNS = ("pid", "cudaId", "gpuId", "uuid", "numMultiprocessors")


def read_gpus(export: OpenExport) -> tuple[PhysicalGpu, ...]:
    """The GPUs in order of id, without graphics adapters, which have no SMs."""
    gpus = [gpu for gpu, _ in _seen_gpus(export)] if GPUS not in export.tables else []
    for gpu_id, name, uuid, bus_location, sm_count, *numbers in export.rows(GPUS, *_GPU_COLUMNS):
        if not isinstance(gpu_id, int):
            export.unreadable_records[GPUS] += 1
        elif sm_count != 0:
            texts = known_text(name), known_text(uuid), known_text(bus_location)
            gpus.append(_gpu(gpu_id, texts, _positive(sm_count), numbers))
    return tuple(sorted(dict.fromkeys(gpus), key=lambda gpu: gpu.gpu_id))


def _gpu(
    gpu_id: int, texts: tuple[str | None, str | None, str | None], sm_count: int | None, numbers: Sequence[Value]
) -> PhysicalGpu:
    memory, bandwidth, clock, major, minor = numbers
    known_major, known_minor = _positive(major), integer(minor)
    capability = None if known_major is None or known_minor is None else (known_major, known_minor)
    return PhysicalGpu(gpu_id, *texts, sm_count, _positive(memory), _positive(bandwidth), capability, _positive(clock))


def read_cuda_devices(export: OpenExport) -> tuple[CudaDevice, ...]:
    """The CUDA devices in order of process and ordinal; nsys has written them since 2025, and in 2020."""
    devices = [device for _, device in _seen_gpus(export)] if CUDA_DEVICES not in export.tables else []
    for pid, device_id, gpu_id, uuid, sm_count in export.rows(CUDA_DEVICES, *_CUDA_DEVICE_COLUMNS):
        if isinstance(pid, int) and isinstance(device_id, int):
            devices.append(CudaDevice(pid, device_id, integer(gpu_id), known_text(uuid), _positive(sm_count)))
        else:
            export.unreadable_records[CUDA_DEVICES] += 1
    return tuple(sorted(devices, key=lambda device: (device.pid, device.device_id)))


def read_sm_limits(export: OpenExport) -> dict[int, SmLimits]:
    """What a multiprocessor of each GPU holds, by GPU; a GPU of which anything is not told is left out."""
    found = {}
    for gpu_id, *values in export.rows(GPUS, "id", *_SM_COLUMNS):
        limits = [_positive(value) for value in values]
        known = [limit for limit in limits if limit is not None]
        if isinstance(gpu_id, int) and len(known) == len(limits):
            found[gpu_id] = SmLimits(*known)
    return found


def _seen_gpus(export: OpenExport) -> list[tuple[PhysicalGpu, CudaDevice]]:
    """Each GPU that a process of nsys 2020 saw, and as what; the ids of GPUs are by order of their bus ids."""
    seen = list(export.rows(SEEN_GPUS, *_SEEN_GPU_COLUMNS))
    gpu_ids = {bus_id: gpu_id for gpu_id, bus_id in enumerate(sorted({str(text(row[2])) for row in seen}))}
    pairs = []
    for pid, device_id, bus_id, name, sm_count, memory in seen:
        if not (isinstance(pid, int) and isinstance(device_id, int)):
            continue
        gpu_id, sms = gpu_ids[str(text(bus_id))], _positive(sm_count)
        gpu = PhysicalGpu(gpu_id, known_text(name), None, known_text(bus_id), sms, _positive(memory), None)
        pairs.append((gpu, CudaDevice(pid, device_id, gpu_id, None, sms)))
    return pairs


def _positive(value: Value) -> int | None:
    """A quantity that is never 0: nsys writes 0 where it does not know."""
    number = integer(value)
    return number if number is not None and number > 0 else None
