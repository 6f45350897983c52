"""The steps of a device, and which of them count."""

from __future__ import annotations

import msgspec
import numpy as np

from nsysan.attribution.steps.exclusion import Exclusion
from nsysan.attribution.steps.tiles import DeviceSteps
from nsysan.model.arrays import Int64Array


class JudgedSteps(msgspec.Struct, frozen=True, eq=False):
    """The steps of a device: idle time by cause code, one row a step, and why each is excluded, None where steady.

    ``causes_ns`` is None where no calls were recorded.
    """

    steps: DeviceSteps
    causes_ns: Int64Array | None
    excluded: tuple[Exclusion | None, ...]

    @property
    def steady(self) -> Int64Array:
        """The rows of the steps that count."""
        return np.array([row for row, why in enumerate(self.excluded) if why is None], np.int64)
