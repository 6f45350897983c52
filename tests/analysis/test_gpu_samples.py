"""What a recording of a monitor says of each GPU, and what its clocks say of slow ranks."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.analysis.gpu_samples import GpuSamplesSummary, SampledGpus, SampledGpuSummary
from nsysan.analysis.lateness_causes import WhyLate
from nsysan.analysis.stragglers import Pattern, Straggler, Stragglers
from nsysan.findings.sampled_clocks import find_sampled_clocks
from nsysan.model.findings import Finding
from nsysan.model.lateness import Lateness
from nsysan.model.results import ResultSet
from nsysan.model.verdicts import Severity
from nsysan.pipeline.analyze import AnalyzeOptions
from nsysan.synth.export import Export
from tests.runs import analyze_exports, result_of


def summaries(folder: Path, text: str, *, keep_identity: bool = False) -> tuple[GpuSamplesSummary, ...]:
    (folder / "dmon.txt").write_text(text)
    options = AnalyzeOptions(evidence=(folder / "dmon.txt",), keep_identity=keep_identity)
    return result_of(analyze_exports(folder, Export().kernel(0, 9, "k"), options=options), SampledGpus).gpu_samples


def clocks_of(folder: Path, *clocks_mhz: int) -> SampledGpus:
    """GPUs at work, each at a clock, the hottest last."""
    rows = "".join(f"{gpu} 300 {60 + gpu} 99 {clock}\n" for gpu, clock in enumerate(clocks_mhz))
    return SampledGpus(summaries(folder, "# gpu pwr gtemp sm pclk\n" + rows * 3))


def slow_rank(ratio: float, cause: Lateness = Lateness.CLOCK_THROTTLE) -> Stragglers:
    why = WhyLate(cause, 9.0, ratio)
    return Stragglers((Straggler(5, "r0/p105/d0", 9, 9, 1.0, Pattern.PERSISTENT, 9.0, 9, why),))


def findings(samples: SampledGpus, stragglers: Stragglers) -> list[Finding]:
    return list(find_sampled_clocks(ResultSet({SampledGpus.id: samples, Stragglers.id: stragglers})))


def test_the_clock_is_that_of_samples_in_which_the_gpu_works(tmp_path: Path) -> None:
    text = "# gpu pwr gtemp sm pclk\n0 80 40 0 210\n0 300 60 100 1410\n0 310 61 50 1395\n0 - - - -\n"

    [summary] = summaries(tmp_path, text)

    assert summary.gpus == (
        SampledGpuSummary(
            label="GPU 0",
            is_instance=False,
            sample_count=4,
            busy_count=2,
            blank_count=1,
            gap_count=0,
            sm_clock_hz=1_402_500_000.0,
            power_w=230.0,
            temperature_c=61.0,
            utilization_frac=0.5,
            graphics_active_frac=None,
            sm_active_frac=None,
            sm_occupancy_frac=None,
            tensor_active_frac=None,
            dram_active_frac=None,
        ),
    )


def test_utilisation_is_never_taken_for_active_units(tmp_path: Path) -> None:
    # M19: GPU_UTIL alone tells nothing of MFU
    [summary] = summaries(tmp_path, 'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 100\n')

    [gpu] = summary.gpus
    assert (gpu.utilization_frac, gpu.sm_active_frac, gpu.tensor_active_frac) == (1.0, None, None)


def test_a_gap_where_the_monitor_was_restarted(tmp_path: Path) -> None:
    times = ("00:00:00", "00:00:01", "00:00:02", "00:05:00", "00:05:01")
    rows = "".join(f"20260721 {time} 0 300\n" for time in times)

    [summary] = summaries(tmp_path, "#Date Time gpu pwr\n" + rows)

    assert summary.gpus[0].gap_count == 1


@pytest.mark.parametrize("keep_identity", [False, True])
def test_hosts_are_numbered_unless_identity_is_kept(tmp_path: Path, *, keep_identity: bool) -> None:
    text = "".join(f'DCGM_FI_DEV_SM_CLOCK{{gpu="0",Hostname="{host}"}} 1410\n' for host in ("alpha", "beta"))
    text += 'DCGM_FI_PROF_SM_ACTIVE{gpu="0",GPU_I_ID="3",Hostname="beta"} 0.5\n'

    [summary] = summaries(tmp_path, text, keep_identity=keep_identity)

    first, second = ("alpha", "beta") if keep_identity else ("host 1", "host 2")
    labels = [f"GPU 0 of {first}", f"GPU 0 of {second}", f"GPU 0, instance 3 of {second}"]
    assert [gpu.label for gpu in summary.gpus] == labels


def test_one_low_clock_explains_a_slow_rank(tmp_path: Path) -> None:
    # C94: rank 5's kernels take 1.35 times as long, and 1755 / 1300 = 1.35
    [finding] = findings(clocks_of(tmp_path, *[1755] * 5, 1300, 1755, 1755), slow_rank(1.35))

    assert finding.title == "One GPU at 1,300 of 1,755 MHz explains the 1.35 ratio of rank 5's kernels"
    assert (finding.cause, finding.severity) == ("clock_throttle", Severity.WARNING)
    assert finding.evidence[0].sentence == (
        "dmon.txt, GPU 5: 1,300 MHz, up to 65 °C, 300 W on average; the median of 7 others is 1,755 MHz, 1.35 times "
        "that."
    )


@pytest.mark.parametrize(
    ("clocks", "ratio", "titles"),
    [
        ([1755, 1300], 2.0, ["One GPU runs at 1,300 of 1,755 MHz, the others' clock"]),
        (
            [1755, 1740],
            1.35,
            ["No clock that was sampled explains why rank 5's kernels take 1.35 times as long"],
        ),
        ([1755, 1740], 1.01, []),
        ([1300], 1.35, []),
    ],
    ids=["another ratio", "equal clocks", "no slow rank", "one GPU alone"],
)
def test_what_clocks_do_not_explain(tmp_path: Path, clocks: list[int], ratio: float, titles: list[str]) -> None:
    assert [finding.title for finding in findings(clocks_of(tmp_path, *clocks), slow_rank(ratio))] == titles


def test_the_clocks_of_idle_gpus_say_nothing(tmp_path: Path) -> None:
    text = "# gpu sm pclk\n" + "0 99 1755\n1 0 210\n" * 3

    samples = SampledGpus(summaries(tmp_path, text))

    assert samples.gpu_samples[0].gpus[1].sm_clock_hz is None
    assert findings(samples, slow_rank(1.35)) == []
