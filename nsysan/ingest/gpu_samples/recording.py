"""One recording as its samples come."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping

import msgspec

from nsysan.model.gpu_samples import GpuSamples, Monitor, Sampled, SampledGpu

MOST_VALUES = 1 << 23
"""So many values are kept, at 8 bytes each."""


class Entity(msgspec.Struct, frozen=True):
    """What is sampled: a GPU of a host, or an instance of it."""

    number: int | None
    instance: int | None = None
    host: str | None = None
    uuid: str | None = None


class Recording(msgspec.Struct):
    """Takes samples; of every entity a row each, filled with NaN where it lacks what others tell."""

    monitor: Monitor
    first_line: int
    malformed_count: int = 0
    omitted_count: int = 0
    _gpus: dict[Entity, SampledGpu] = msgspec.field(default_factory=dict)
    _value_count: int = 0

    def take(self, entity: Entity, values: Mapping[Sampled, float], wall_ns: int | None) -> None:
        """Add one sample."""
        if self._value_count >= MOST_VALUES:
            self.omitted_count += 1
            return
        found = self._gpus.get(entity)
        if found is None:
            found = SampledGpu(entity.number, entity.instance, entity.host, entity.uuid, {}, array("q"))
            self._gpus[entity] = found
        row = len(found)
        for sampled in dict.fromkeys((*found.columns, *values)):
            column = found.columns.setdefault(sampled, array("d", [math.nan] * row))
            column.append(values.get(sampled, math.nan))
        if wall_ns is not None:
            found.wall_ns.append(wall_ns)
        self._value_count += len(found.columns) or 1

    def result(self, name: str) -> GpuSamples | None:
        """The recording, None where it holds no value."""
        gpus = tuple(gpu for gpu in self._gpus.values() if any(map(_tells, gpu.columns.values())))
        if not gpus:
            return None
        return GpuSamples(
            name=name,
            monitor=self.monitor,
            first_line=self.first_line,
            gpus=gpus,
            malformed_count=self.malformed_count,
            omitted_count=self.omitted_count,
        )


def _tells(column: array[float]) -> bool:
    return any(not math.isnan(value) for value in column)
