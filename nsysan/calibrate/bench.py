"""What every measurement works with: the GPUs, the libraries that are here, and how much time there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import astuple

from nsysan.calibrate.libraries import (
    DRIVER,
    NCCL,
    NVML,
    Wanted,
    cublaslt_for,
    native,
    nvrtc_for,
    open_library,
    shown_path,
)
from nsysan.calibrate.ranks import ONE_PROCESS, Ranks
from nsysan.calibrate.sampling import Effort
from nsysan.calibrate.shapes import Shape
from nsysan.calibrate.spread import conditions_of
from nsysan.model.ceilings import (
    CollectiveCurve,
    Conditions,
    Dtype,
    GemmCeiling,
    LaunchCeiling,
    Library,
    LinkCeiling,
    MemoryCeiling,
    Waived,
)
from nsysan.model.errors import MissingToolError
from nsysan.model.progress import UNWATCHED, Progress

if TYPE_CHECKING:
    from nsysan.calibrate._native import CublasLt, Device, Driver, Kernels, Nccl, Nvml, Nvrtc

AnyLibrary = TypeVar("AnyLibrary")

KERNELS = files("nsysan.calibrate")
"""Where their source is, and the code of architectures for which there was nvcc."""
_BETWEEN_LOOKS_MS = 10
_MEMORY_SHARE = 0.4
"""Of free memory that a measurement may take."""


class Bench(msgspec.Struct, dict=True):
    """One calibration. Libraries are opened when first needed; raises MissingToolError where one is not here."""

    effort: Effort
    ranks: Ranks = ONE_PROCESS
    progress: Progress = UNWATCHED
    more_products: tuple[tuple[Dtype, Shape], ...] = ()
    """To be measured besides the usual ones."""
    bus_ids: tuple[str, ...] = ()
    """Those of the GPUs of this machine that other processes have, as far as they told it; this one's too."""
    libraries: dict[str, Library] = msgspec.field(default_factory=dict)
    waived: list[Waived] = msgspec.field(default_factory=list)

    @cached_property
    def driver(self) -> Driver:
        """The driver, started."""
        found: Driver = self._open(native().Driver, DRIVER, lambda driver: _cuda_version(driver.version))
        return found

    @cached_property
    def devices(self) -> tuple[Device, ...]:
        """The GPUs of this process: all of the node, or that of its own where many processes share a node."""
        count = self.driver.device_count
        if count < 1:
            raise MissingToolError("Calibration needs an NVIDIA GPU, and the driver finds none.", "See: nvidia-smi")
        numbers = range(count) if self.ranks.is_alone else [self.ranks.local_rank % count]
        return tuple(native().Device(self.driver, number) for number in numbers)

    @property
    def rank_count(self) -> int:
        """How many GPUs collectives are of."""
        return len(self.devices) if self.ranks.is_alone else self.ranks.count

    @property
    def device(self) -> Device:
        """The GPU that what needs only one is measured on."""
        return self.devices[0]

    @cached_property
    def cublaslt(self) -> CublasLt:
        """CuBLASLt."""
        wanted = cublaslt_for(self.driver.version)
        found: CublasLt = self._open(native().CublasLt, wanted, lambda lt: _dotted(lt.version, 10000, 100))
        return found

    @cached_property
    def nccl(self) -> Nccl:
        """NCCL."""
        found: Nccl = self._open(native().Nccl, NCCL, lambda nccl: _dotted(nccl.version, 10000, 100))
        return found

    @cached_property
    def kernels(self) -> Kernels:
        """The kernels of a calibration: the code that nvcc made when nsysan was built, else NVRTC's."""
        major, minor = self.device.facts.capability
        architecture = f"sm_{major}{minor}"
        built = KERNELS.joinpath(f"{architecture}.cubin")
        code = built.read_bytes() if built.is_file() else self._compiled(architecture)
        kernels: Kernels = native().Kernels(self.device, code)
        return kernels

    def _compiled(self, architecture: str) -> bytes:
        wanted = nvrtc_for(self.driver.version)
        nvrtc: Nvrtc = self._open(native().Nvrtc, wanted, lambda found: found.version)
        return nvrtc.compile(KERNELS.joinpath("kernels.cu").read_text("utf-8"), architecture)

    @cached_property
    def nvml(self) -> Nvml | None:
        """NVML; None where it is not here, and nothing then tells how the GPU runs."""
        try:
            found: Nvml = self._open(native().Nvml, NVML, lambda nvml: nvml.driver_version)
        except (MissingToolError, native().CallFailedError) as error:
            self.waive("conditions", str(error))
            return None
        return found

    def waive(self, measurement: str, reason: str) -> None:
        """Write down that this could not be measured."""
        self.waived.append(Waived(measurement, reason.splitlines()[0]))

    @property
    def room_bytes(self) -> int:
        """How much memory of the GPU a measurement may take."""
        return int(self.device.free_bytes * _MEMORY_SHARE)

    @contextmanager
    def watched(self) -> Iterator[Watch]:
        """Look at the GPU while the block runs."""
        watch = Watch()
        if self.nvml is None:
            yield watch
            return
        sampler = native().Sampler(self.nvml, self.device.facts.bus_id, _BETWEEN_LOOKS_MS)
        try:
            yield watch
        finally:
            watch.conditions = conditions_of(sampler.stop())

    def _open(self, kind: Callable[[str], AnyLibrary], wanted: Wanted, version: Callable[[Any], str]) -> AnyLibrary:
        library, path = open_library(kind, wanted)
        self.libraries[wanted.name] = Library(wanted.name, version(library), shown_path(path))
        return library


class Watch(msgspec.Struct):
    """What was seen of the GPU; None before the end, and where nothing tells."""

    conditions: Conditions | None = None


class Figures(msgspec.Struct, frozen=True):
    """What measurements find, as ``Ceilings`` has it."""

    gemm: tuple[GemmCeiling, ...] = ()
    memory: tuple[MemoryCeiling, ...] = ()
    links: tuple[LinkCeiling, ...] = ()
    launches: tuple[LaunchCeiling, ...] = ()
    collectives: tuple[CollectiveCurve, ...] = ()

    def __add__(self, other: Figures) -> Figures:
        return Figures(*(own + others for own, others in zip(astuple(self), astuple(other), strict=True)))


class Measurement(msgspec.Struct, frozen=True):
    """A group of figures; ``estimate_s`` says about how many seconds it takes."""

    id: str
    title: str
    estimate_s: Callable[[Bench], float]
    measure: Callable[[Bench], Figures]


def _cuda_version(number: int) -> str:
    return f"CUDA {number // 1000}.{number % 1000 // 10}"


def _dotted(number: int, major: int, minor: int) -> str:
    return f"{number // major}.{number % major // minor}.{number % minor}"
