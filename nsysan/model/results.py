"""What analyses answer: typed results by id, or why there is none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar, Protocol, TypeVar

import msgspec


class Result(Protocol):
    """A frozen struct whose field names are the keys it contributes to ``run.json``."""

    id: ClassVar[str]
    __struct_fields__: ClassVar[tuple[str, ...]]


class Skipped(msgspec.Struct, frozen=True):
    """A question that was not answered: why, and what to record to have it answered."""

    id: str
    reason: str
    recapture: str | None


AnyResult = TypeVar("AnyResult", bound=Result)


class ResultSet:
    """The results of a run, at most one of each type."""

    def __init__(self, results: Mapping[str, Result | Skipped]) -> None:
        self._results = dict(results)

    def get(self, result_type: type[AnyResult]) -> AnyResult | Skipped:
        """The result of this type, or why it is missing: the type checker makes every reader handle both."""
        found = self._results.get(result_type.id)
        if found is None:
            return Skipped(result_type.id, "this run does not hold it", None)
        if isinstance(found, Skipped):
            return found
        if not isinstance(found, result_type):
            raise TypeError(f"result {result_type.id!r} is a {type(found).__name__}, no {result_type.__name__}")
        return found

    def found(self) -> Iterator[Result]:
        """The results that were computed, in the order they were."""
        return (result for result in self._results.values() if not isinstance(result, Skipped))

    def skipped(self) -> tuple[Skipped, ...]:
        """The questions that were not answered, in order."""
        return tuple(result for result in self._results.values() if isinstance(result, Skipped))

    def with_result(self, result_id: str, result: Result | Skipped) -> ResultSet:
        """This set and one more result."""
        return ResultSet({**self._results, result_id: result})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ResultSet) and self._results == other._results

    def __hash__(self) -> int:
        return hash(tuple(self._results))
