"""What a run is called in a history: the same inputs, analysed alike, are the same run."""

from __future__ import annotations

import hashlib

import msgspec

from nsysan.model.run import Run

_DIGITS = 12


def run_id_of(run: Run) -> str:
    """Twelve digits from the contents of the reports, the options, and the nsysan that read them."""
    contents = [report.fingerprint for report in run.reports]
    told = msgspec.json.encode([contents, dict(run.options), run.nsysan_version], order="sorted")
    return hashlib.sha256(told).hexdigest()[:_DIGITS]
