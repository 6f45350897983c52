"""The GPUs of the machine, and which of them a process saw as which CUDA device."""

from __future__ import annotations

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import CUDA_DEVICES, GPUS
from nsysan.ingest.source import Value, integer, known_text
from nsysan.model.trace import CudaDevice, PhysicalGpu

_GPU_COLUMNS = ("id", "name", "uuid", "busLocation", "smCount", "totalMemory", "memoryBandwidth")
_CUDA_DEVICE_COLUMNS = ("pid", "cudaId", "gpuId", "uuid", "numMultiprocessors")


def read_gpus(export: OpenExport) -> tuple[PhysicalGpu, ...]:
    """The GPUs in order of id, without graphics adapters, which have no SMs."""
    gpus = []
    for gpu_id, name, uuid, bus_location, sm_count, memory, bandwidth in export.rows(GPUS, *_GPU_COLUMNS):
        if not isinstance(gpu_id, int):
            export.unreadable_records[GPUS] += 1
        elif sm_count != 0:
            sizes = (_positive(sm_count), _positive(memory), _positive(bandwidth))
            gpus.append(PhysicalGpu(gpu_id, known_text(name), known_text(uuid), known_text(bus_location), *sizes))
    return tuple(sorted(gpus, key=lambda gpu: gpu.gpu_id))


def read_cuda_devices(export: OpenExport) -> tuple[CudaDevice, ...]:
    """The CUDA devices in order of process and ordinal; nsys has written them since 2024."""
    devices = []
    for pid, device_id, gpu_id, uuid, sm_count in export.rows(CUDA_DEVICES, *_CUDA_DEVICE_COLUMNS):
        if isinstance(pid, int) and isinstance(device_id, int):
            devices.append(CudaDevice(pid, device_id, integer(gpu_id), known_text(uuid), _positive(sm_count)))
        else:
            export.unreadable_records[CUDA_DEVICES] += 1
    return tuple(sorted(devices, key=lambda device: (device.pid, device.device_id)))


def _positive(value: Value) -> int | None:
    """A quantity that is never 0: nsys writes 0 where it does not know."""
    number = integer(value)
    return number if number is not None and number > 0 else None
