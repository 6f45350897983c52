"""What a report tells about a machine, made safe to show."""

from __future__ import annotations

from msgspec.structs import replace

from nsysan.model.text import display_text
from nsysan.model.trace import CaptureIdentity, CudaDevice, PhysicalGpu, ProcessGroup


def shown(name: str | None) -> str | None:
    """The text with nothing hidden in it and of bounded length, None as it is."""
    return None if name is None else display_text(name)


def shown_gpus(gpus: tuple[PhysicalGpu, ...]) -> tuple[PhysicalGpu, ...]:
    """The GPUs with their texts safe to show."""
    return tuple(
        replace(gpu, name=shown(gpu.name), uuid=shown(gpu.uuid), bus_location=shown(gpu.bus_location)) for gpu in gpus
    )


def shown_devices(devices: tuple[CudaDevice, ...]) -> tuple[CudaDevice, ...]:
    """The CUDA devices with their UUIDs safe to show."""
    return tuple(replace(device, uuid=shown(device.uuid)) for device in devices)


def shown_groups(groups: tuple[ProcessGroup, ...]) -> tuple[ProcessGroup, ...]:
    """The process groups with their texts safe to show."""
    return tuple(
        replace(group, name=display_text(group.name), description=display_text(group.description)) for group in groups
    )


def shown_identity(identity: CaptureIdentity) -> CaptureIdentity:
    """Who and where, safe to show."""
    return CaptureIdentity(
        host=shown(identity.host),
        user=shown(identity.user),
        command_line=shown(identity.command_line),
        path=display_text(identity.path),
    )
