"""Whatever damage a file of evidence has, it is read as far as it tells something, or refused in a sentence."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nsysan.analysis.gpu_samples import compute_gpu_samples
from nsysan.analysis.logged_times import times_in
from nsysan.attribution.job import build_job
from nsysan.ingest.evidence.reading import read_evidence
from nsysan.model.errors import InputError
from nsysan.model.results import ResultSet
from nsysan.model.training_log import TrainingLog
from tests.ingest.test_gpu_samples import DCGMI, EXPORTER, NVIDIA_SMI
from tests.ingest.test_sacct import COLUMNS, PARSABLE
from tests.ingest.training_lines import bar, megatron, timer, torchtitan

FILES = (
    DCGMI,
    NVIDIA_SMI,
    EXPORTER,
    PARSABLE,
    COLUMNS,
    "".join(megatron(step, "126.5", before="[2024-05-01 12:00:10]") for step in range(4)),
    "".join(torchtitan(step, f"16:04:4{step},338") for step in range(4)),
    "".join(bar(step, 9, f"00:0{step}", "1.20it/s") for step in range(4)),
    "".join(timer(step, step, 0.5, tokens=9) for step in range(4)),
)
PIECES = (
    b"\x00",
    b"\xff\xfe",
    b"\n",
    b"\r",
    b" ",
    b"|",
    b"9" * 30,
    b"-1",
    b"nan",
    b"inf",
    b"1e308",
    b'"',
    b"{",
    b"\xe2\x80",
)


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_damage_is_refused_or_read_and_never_a_fault(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(FILES)).encode()
    for _ in range(data.draw(st.integers(1, 4))):
        begin = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(begin, min(len(text), begin + 40)))
        text = text[:begin] + data.draw(st.sampled_from(PIECES)) + text[end:]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "evidence"
        path.write_bytes(text)
        try:
            evidence = read_evidence([path])
        except InputError:
            return
    for log in evidence.of(TrainingLog):
        step_ns = times_in(log).step_ns
        assert step_ns is None or step_ns > 0
    compute_gpu_samples(build_job([], evidence=evidence), ResultSet({}))
