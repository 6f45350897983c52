"""What a log says once: batch, length of sequences, ranks, whether it goes on from a checkpoint, rates of the whole."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from nsysan.ingest.written_figures import NUMBER, number
from nsysan.model.training_log import LogSettings

_COUNTS = {
    "sequence_length": re.compile(r"(?:\bseq_length \.{3,80} |\bsequence length )(?P<value>[0-9]{1,9})\b"),
    "samples": re.compile(
        r"(?:\bglobal batch size |\b(?:global_batch_size|train_batch_size) \.{3,80} "
        r"|\bTotal train batch size \([^)]{1,80}\) = )(?P<value>[0-9,]{1,12})\b"
    ),
    "world_size": re.compile(r"(?:\bworld_size \.{3,80} |\busing world size: )(?P<value>[0-9]{1,7})\b"),
}
_RATES = {
    "samples_per_s": re.compile(rf"['\"]?train_samples_per_second['\"]? {{0,40}}[:=] {{0,4}}'?(?P<value>{NUMBER})"),
    "tokens_per_gpu_per_s": re.compile(
        rf"['\"]?train_tokens_per_second['\"]? {{0,40}}[:=] {{0,4}}'?(?P<value>{NUMBER})"
    ),
}
_RESUMED = re.compile(
    r"Continuing training from (?:checkpoint|global step)|successfully loaded checkpoint from|"
    r"Loading the checkpoint (?:at|from)|Restored all states from the checkpoint"
)
MARKS = (b"seq", b"batch size", b"batch_size", b"world", b"_per_second", b"heckpoint", b"Continuing")
"""A line that says something has one of them."""


class SettingsInLog:
    """Takes lines; the first that says something counts."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._rates: dict[str, float] = {}
        self._is_resumed = False

    def take(self, line: str) -> None:
        """See what the line says."""
        for name, value in _said(_COUNTS, line):
            self._counts.setdefault(name, int(value))
        for name, value in _said(_RATES, line):
            self._rates.setdefault(name, value)
        self._is_resumed = self._is_resumed or _RESUMED.search(line) is not None

    def result(self) -> LogSettings:
        """All that was said."""
        counts, rates = self._counts, self._rates
        return LogSettings(
            sequence_length=counts.get("sequence_length"),
            samples=counts.get("samples"),
            world_size=counts.get("world_size"),
            is_resumed=self._is_resumed,
            samples_per_s=rates.get("samples_per_s"),
            tokens_per_gpu_per_s=rates.get("tokens_per_gpu_per_s"),
        )


def _said(patterns: Mapping[str, re.Pattern[str]], line: str) -> Iterator[tuple[str, float]]:
    for name, pattern in patterns.items():
        found = pattern.search(line)
        value = None if found is None else number(found["value"])
        if value:
            yield name, value
