"""What reports answered each by itself, to be put together: among all, their devices and GPUs have other names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from nsysan.attribution.device_communication import DeviceCommunication
from nsysan.model.results import AnyResult, ResultSet, Skipped


class OfReport(msgspec.Struct, frozen=True):
    """The results of a report, in which it is the only one; ``gpus`` tells what each of its GPUs is called among all.

    ``report`` is its place among all; ``communication`` is of its devices, where anybody asks for it, and
    ``stepping_count`` says how many of them have steps.
    """

    report: int
    results: ResultSet
    gpus: Mapping[str, str]
    communication: Mapping[str, DeviceCommunication]
    stepping_count: int

    def device(self, own_id: str) -> str:
        """What one of its devices is called among all."""
        return f"r{self.report}/{own_id.partition('/')[2]}"


def answered(parts: Sequence[OfReport], result_type: type[AnyResult]) -> list[tuple[OfReport, AnyResult]]:
    """The reports that have an answer, each with it."""
    found = ((part, part.results.get(result_type)) for part in parts)
    return [(part, result) for part, result in found if not isinstance(result, Skipped)]


def skipped_by_all(parts: Sequence[OfReport], result_type: type[AnyResult]) -> Skipped:
    """Why no report has an answer."""
    found = parts[0].results.get(result_type)
    assert isinstance(found, Skipped), "a report has an answer"
    return found
