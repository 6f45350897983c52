"""Which devices are one physical GPU (or MIG instance).

Two processes that name one GPU are matched through TARGET_INFO_CUDA_DEVICE or, over reports, through host and UUID.
Where that cannot be known every device is its own GPU, and a note says so: eight rank files that all say device 0 are
eight GPUs.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import msgspec

from nsysan.model.trace import CudaDevice, PhysicalGpu, Trace, process_of


class GpuIdentity(msgspec.Struct, frozen=True):
    """What is known of a device's GPU. Devices with equal ``key`` are one GPU; a null key matches nothing.

    ``machine_id`` is what its machine calls it, null of a part of a GPU: what is told of the whole is not of the part.
    """

    key: Hashable
    name: str | None
    uuid: str | None
    machine_id: int | None = None


def identify_gpu(trace: Trace, report: int, global_pid: int, device_id: int) -> GpuIdentity:
    """Which GPU a device of a trace is, as far as the trace tells."""
    device = _cuda_device(trace, process_of(global_pid), device_id)
    gpu = _physical_gpu(trace, device)
    uuid = device.uuid if device and device.uuid else gpu.uuid if gpu and _is_whole(device, gpu) else None
    return GpuIdentity(
        key=_key(trace, report, uuid, gpu, device),
        name=gpu.name if gpu else _common_name(trace.gpus),
        uuid=uuid,
        machine_id=gpu.gpu_id if gpu and _is_whole(device, gpu) else None,
    )


def _key(trace: Trace, report: int, uuid: str | None, gpu: PhysicalGpu | None, device: CudaDevice | None) -> Hashable:
    if uuid is not None:
        # without a host two files may come from two machines, or their ids may have been scrubbed alike
        return (trace.identity.host or report, uuid)
    if gpu is not None and _is_whole(device, gpu):
        return (report, gpu.bus_location or gpu.gpu_id)
    return None


def _cuda_device(trace: Trace, pid: int | None, device_id: int) -> CudaDevice | None:
    matches = [entry for entry in trace.cuda_devices if (entry.pid, entry.device_id) == (pid, device_id)]
    return matches[0] if len(matches) == 1 else None


def _physical_gpu(trace: Trace, device: CudaDevice | None) -> PhysicalGpu | None:
    if device is None:
        # a machine with one GPU leaves no choice; with more, CUDA_VISIBLE_DEVICES may have renumbered them
        return trace.gpus[0] if len(trace.gpus) == 1 and not trace.cuda_devices else None
    return next((gpu for gpu in trace.gpus if gpu.gpu_id == device.gpu_id), None)


def _is_whole(device: CudaDevice | None, gpu: PhysicalGpu) -> bool:
    """Whether the device is all of the GPU: a MIG instance has fewer SMs."""
    if device is None or device.sm_count is None or gpu.sm_count is None:
        return True
    return device.sm_count == gpu.sm_count


def _common_name(gpus: Sequence[PhysicalGpu]) -> str | None:
    """What every GPU of the machine is called, where they are all of one model."""
    names = {gpu.name for gpu in gpus}
    return names.pop() if len(names) == 1 else None
