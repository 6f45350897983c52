"""Which files of a run the server takes for reports, and which for what tells more of it."""

from __future__ import annotations

from pathlib import Path

from nsysan.ingest.evidence.kind import SAMPLE_BYTES
from nsysan.service.work.evidence import told_apart
from nsysan.synth.export import Export
from tests.ingest.training_lines import megatron


def test_a_training_log_is_evidence_however_long_it_starts_up(tmp_path: Path) -> None:
    report = Export().kernel(0, 9, "gemm").write(tmp_path / "rank0.sqlite")
    log, notes, folder, empty = (tmp_path / name for name in ("train.log", "notes.txt", "folder", "empty.log"))
    log.write_text("building the dataset\n" * (SAMPLE_BYTES // 10) + megatron(1, "812.4"))
    notes.write_text("nothing")
    empty.touch()
    folder.mkdir()

    # what is neither is taken for a report, which then says what it is
    assert told_apart([log, report, notes, folder, empty]) == ([report, notes, folder, empty], (log,))
