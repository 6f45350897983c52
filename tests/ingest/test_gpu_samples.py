"""What monitors print: every layout, what is no value, instances, restarts, and lines that are damaged."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from nsysan.ingest.evidence.reading import read_evidence
from nsysan.ingest.gpu_samples import recording
from nsysan.model.errors import InputError
from nsysan.model.gpu_samples import GpuSamples, Monitor, Sampled, SampledGpu

EVIDENCE = Path(__file__).parents[3] / "shared" / "evidence"
real_files = pytest.mark.skipif(not EVIDENCE.exists(), reason="the shared real files are not beside this checkout")

DCGMI = """\
# Entity  GRACT  SMCLK  POWER  TMPTR  GPUTL
      Id
    GPU 0  0.969   1410  301.5     61     99
    GPU 1    N/A    N/A    N/A    N/A    N/A
    CPU 0    N/A    N/A    N/A    N/A    N/A
    GPU 0    nan   1410  9223372036854775794  -5     99
# Entity  GRACT  SMCLK  POWER  TMPTR  GPUTL
      Id
    GPU 0  0.971   1395
Error getting the latest value: The connection to the host engine is not valid any longer
    GPU 0  0.973   1395  300.5     62    100
"""
NVIDIA_SMI = """\
#Date   Time   gpu   pwr   gtemp   sm   pclk
#YYYYMMDD   HH:MM:SS   Idx   W   C   %   MHz
 20260721   23:59:59   1   301   -   55   1410
 20260722   00:00:00   1   302   61   -   1410
"""
EXPORTER = """\
# HELP DCGM_FI_DEV_SM_CLOCK SM clock frequency (in MHz).
# TYPE DCGM_FI_DEV_SM_CLOCK gauge
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-a",device="nvidia0",modelName="NVIDIA \\"A30\\"",Hostname="x"} 1410 1700000000000
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-b",device="nvidia0",Hostname="y"} 1300 1700000000000
DCGM_FI_DEV_GPU_UTIL{gpu="0",UUID="GPU-a",device="nvidia0",Hostname="x"} 99 1700000000000
DCGM_FI_PROF_PIPE_TENSOR_ACTIVE{gpu="0",UUID="GPU-a",GPU_I_PROFILE="1g.6gb",GPU_I_ID="3",Hostname="x"} 0.25
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-a"} 0
DCGM_FI_DEV_SM_CLOCK{gpu="none"} 1
DCGM_FI_DEV_SM_CLOCK{gpu="0",UUID="GPU-a",device="nvidia0",Hostname="x"} 1395 1700000030000
"""


def read(folder: Path, text: str) -> tuple[GpuSamples, ...]:
    (folder / "samples.txt").write_text(text)
    return read_evidence([folder / "samples.txt"]).of(GpuSamples)


def told(gpu: SampledGpu) -> dict[Sampled, list[float | None]]:
    """The columns, with None for no value."""
    return {
        sampled: [None if math.isnan(value) else value for value in column] for sampled, column in gpu.columns.items()
    }


def test_dcgmi_with_nothing_known_a_restart_and_a_cut_line(tmp_path: Path) -> None:
    [samples] = read(tmp_path, DCGMI)

    assert (samples.monitor, samples.first_line, samples.malformed_count) == (Monitor.DCGMI, 1, 2)
    [gpu] = samples.gpus
    assert (gpu.number, gpu.instance) == (0, None)
    assert told(gpu) == {
        Sampled.GRAPHICS_ACTIVE_FRAC: [0.969, None, 0.973],
        Sampled.SM_CLOCK_MHZ: [1410, 1410, 1395],
        Sampled.POWER_W: [301.5, None, 300.5],
        Sampled.TEMPERATURE_C: [61, None, 62],
        Sampled.UTILIZATION_FRAC: [0.99, 0.99, 1.0],
    }


@pytest.mark.parametrize(
    "text",
    [
        NVIDIA_SMI,
        NVIDIA_SMI.replace("   ", ", ").replace(" ,", ""),
    ],
    ids=["a table", "commas"],
)
def test_nvidia_smi_with_times(tmp_path: Path, text: str) -> None:
    [samples] = read(tmp_path, text)

    [gpu] = samples.gpus
    assert (samples.monitor, samples.malformed_count, gpu.number) == (Monitor.NVIDIA_SMI, 0, 1)
    assert told(gpu) == {
        Sampled.POWER_W: [301, 302],
        Sampled.TEMPERATURE_C: [None, 61],
        Sampled.UTILIZATION_FRAC: [0.55, None],
        Sampled.SM_CLOCK_MHZ: [1410, 1410],
    }
    assert gpu.wall_ns[1] - gpu.wall_ns[0] == 1_000_000_000


def test_the_exporter_over_two_scrapes_hosts_and_an_instance(tmp_path: Path) -> None:
    [samples] = read(tmp_path, EXPORTER)

    assert (samples.monitor, samples.malformed_count) == (Monitor.DCGM_EXPORTER, 1)
    found = {(gpu.host, gpu.uuid, gpu.number, gpu.instance): told(gpu) for gpu in samples.gpus}
    assert found == {
        ("x", "GPU-a", 0, None): {Sampled.SM_CLOCK_MHZ: [1410, 1395], Sampled.UTILIZATION_FRAC: [0.99, None]},
        ("y", "GPU-b", 0, None): {Sampled.SM_CLOCK_MHZ: [1300]},
        ("x", "GPU-a", 0, 3): {Sampled.TENSOR_ACTIVE_FRAC: [0.25]},
    }


def test_headings_with_other_columns_begin_another_recording(tmp_path: Path) -> None:
    text = "# gpu pwr pclk\n# Idx W MHz\n0 86 1710\n# gpu pwr pclk\n0 87 1710\n# gpu pclk fb\n0 208 725\n"

    first, second = read(tmp_path, text)

    assert (told(first.gpus[0]), first.first_line) == (
        {Sampled.POWER_W: [86, 87], Sampled.SM_CLOCK_MHZ: [1710, 1710]},
        1,
    )
    assert (told(second.gpus[0]), second.first_line) == ({Sampled.SM_CLOCK_MHZ: [208]}, 6)


def test_no_more_is_kept_than_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recording, "MOST_VALUES", 2)

    [samples] = read(tmp_path, "# gpu pwr pclk\n" + "0 86 1710\n" * 5)

    assert (len(samples.gpus[0]), samples.omitted_count) == (1, 4)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (DCGMI.splitlines()[0] + "\n", "holds no figure of it"),
        ("# Entity  GRACT\n      Id\n    GPU 0    N/A\n", "holds no figure of it"),
        ("# gpu pwr pclk\n0 - -\n1 86\n", "holds no figure of it"),
        ("# gpu models we own\n", "is no evidence that nsysan knows"),
        ("DCGM_FI_DEV_SM_CLOCK 3\n", "is no evidence that nsysan knows"),
    ],
)
def test_what_tells_nothing_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read(tmp_path, text)


@real_files
def test_real_files() -> None:
    names = ("dcgmi-dmon.txt", "dcgmi-dmon-mig.txt", "nvidia-smi-dmon.txt")
    found = read_evidence([EVIDENCE / name for name in names]).of(GpuSamples)

    assert [(one.name, one.first_line, one.malformed_count) for one in found] == [
        ("dcgmi-dmon.txt", 1, 0),
        ("dcgmi-dmon-mig.txt", 1, 0),
        ("nvidia-smi-dmon.txt", 1, 0),
        ("nvidia-smi-dmon.txt", 7, 0),
        ("nvidia-smi-dmon.txt", 14, 0),
    ]
    assert [[(gpu.number, gpu.instance, len(gpu)) for gpu in one.gpus] for one in found] == [
        [(0, None, 15)],
        [(0, None, 1), (None, 0, 1), (None, 1, 1)],
        [(0, None, 4)],
        [(0, None, 5)],
        [(0, None, 1)],
    ]
