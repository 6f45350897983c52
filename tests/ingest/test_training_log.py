"""Training logs of each framework: steps, units, notations, ranks that write at once, and runs that begin again."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.ingest.evidence.reading import read_evidence
from nsysan.ingest.training_log import lines as log_lines
from nsysan.ingest.written_figures import number, stamp_ns, watch_ns
from nsysan.model.errors import InputError
from nsysan.model.training_log import LogFormat, LoggedStep, LogSettings, TrainingLog
from tests.ingest.training_lines import bar, megatron, timer, torchtitan

S = 1_000_000_000
MS = 1_000_000


def read(folder: Path, text: str) -> TrainingLog:
    (folder / "train.log").write_text(text)
    [log] = read_evidence([folder / "train.log"]).of(TrainingLog)
    return log


def test_megatron_behind_the_prefix_of_a_launcher(tmp_path: Path) -> None:
    before = "12: [2024-05-01 12:00:{}]"
    text = (
        "  seq_length ...................................... 4096\n"
        "  world_size ...................................... 64\n"
        "> successfully loaded checkpoint from /c at iteration 181\n"
        + megatron(182, "126995.3", skipped=2, before=before.format("10"))
        + megatron(183, "125553.7", before=before.format("12"))
    )

    log = read(tmp_path, text)

    seconds = stamp_ns("2024-05-01 12:00:10")
    assert seconds == (1_714_564_810 * S, S)
    assert log == TrainingLog(
        name="train.log",
        format=LogFormat.MEGATRON,
        steps=(
            LoggedStep(182, wall_ns=1_714_564_810 * S, step_ns=126_995.3 * MS, samples=1024.0, skipped_count=2),
            LoggedStep(183, wall_ns=1_714_564_812 * S, step_ns=125_553.7 * MS, samples=1024.0, skipped_count=0),
        ),
        settings=LogSettings(sequence_length=4096, world_size=64, is_resumed=True),
        repeated_count=0,
        omitted_count=0,
        wall_resolution_ns=S,
    )


@pytest.mark.parametrize(
    ("elapsed", "unit", "step_ns"),
    [
        ("126995.3", "ms", 126_995.3 * MS),
        ("126.9953", "s", 126_995.3 * MS),
        ("126995,3", "ms", 126_995.3 * MS),
        ("126,995.3", "ms", 126_995.3 * MS),
        ("126.995,3", "ms", 126_995.3 * MS),
        ("126995.3", "fortnights", None),
        ("nan", "ms", None),
        ("0.0", "ms", None),
    ],
)
def test_units_and_notations_of_megatrons_time(tmp_path: Path, elapsed: str, unit: str, step_ns: float | None) -> None:
    log = read(tmp_path, megatron(1, elapsed, unit=unit) + megatron(2, elapsed, unit=unit))

    assert [step.step_ns for step in log.steps] == [pytest.approx(step_ns), pytest.approx(step_ns)]


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("tokens per gpu per second (tgs): 1234.5", (None, 1234.5, None)),
        ("tokens per second: 98,760", (98_760.0, None, None)),
        ("samples/sec: 7.799", (None, None, 7.799)),
    ],
)
def test_rates_in_forks_of_megatron(tmp_path: Path, field: str, told: tuple[float | None, ...]) -> None:
    line = " iteration {}/ 9 | elapsed time per iteration (s): 4.1 | " + field + " |\n"

    log = read(tmp_path, line.format(1) + line.format(2))

    step = log.steps[0]
    assert (step.tokens_per_s, step.tokens_per_gpu_per_s, step.samples_per_s) == told


def test_torchtitan_in_colour_of_eight_ranks_at_once(tmp_path: Path) -> None:
    lines = [torchtitan(4, "16:04:46,338"), *[torchtitan(5, "16:04:47,456", "10,050", before="")] * 7]
    # a rank that writes late
    lines[2:2] = [torchtitan(4, "16:04:46,339")]
    told = "Training starts at step 1, with local batch size 8, global batch size 64, sequence length 8192\n"

    log = read(tmp_path, told + "".join(lines))

    assert [(step.step, step.run, step.tokens_per_gpu_per_s) for step in log.steps] == [
        (4, 0, 7450.0),
        (5, 0, 10_050.0),
    ]
    walls_ns = [step.wall_ns or 0 for step in log.steps]
    assert (walls_ns[1] - walls_ns[0], log.wall_resolution_ns, log.repeated_count) == (1_118 * MS, MS, 7)
    assert (log.settings.samples, log.settings.sequence_length) == (64, 8192)


def test_deepspeed_whose_lines_complete_each_other(tmp_path: Path) -> None:
    stop = "[2023-07-25 21:03:{},269] [INFO] [timer.py:215:stop] epoch=0/micro_step={}/global_step={}, "
    line = (
        "[2023-07-25 21:03:17,200] [INFO] [logging.py:96:log_dist] [Rank 0] step={0}, skipped={1}, lr=[2e-06]\n"
        + stop.format("{2}", "{0}", "{0}")
        + "RunningAvgSamplesPerSec=7.864669709950182, CurrSamplesPerSec=8.00912418308922, MemAllocated=59.65GB\n"
        "[2023-07-25 21:03:17,269] [INFO] [logging.py:96:log_dist] [Rank 0] rank=0 time (ms) | "
        "forward_microstep: 1.42 | backward_microstep: 1.13 | step_microstep: 1.13\n"
        "[2023-07-25 21:03:17,269] [INFO] [logging.py:96:log_dist] [Rank 0] rank=0 time (ms) | forward: 652.41 | "
        "backward: 2164.52 | backward_inner: 2001.89 | backward_allreduce: 162.60 | step: 1172.13\n"
    )

    log = read(tmp_path, line.format(34, 2, 17) + line.format(44, 3, 57))

    assert log.format is LogFormat.DEEPSPEED
    assert [(step.step, step.skipped_count, step.samples_per_s) for step in log.steps] == [
        (34, 2, 8.00912418308922),
        (44, 1, 8.00912418308922),
    ]
    assert [step.step_ns for step in log.steps] == [pytest.approx((652.41 + 2164.52 + 1172.13) * MS)] * 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("[x] [INFO] [timer.py:154:stop] 0/{}, SamplesPerSec=6.302019280317165\n", (None, 6.302019280317165)),
        ("steps: {} loss: 7.1012 iter time (s): 1.234 samples/sec: 51.864\n", (1_234.0 * MS, 51.864)),
    ],
    ids=["of 2021", "of the pipeline engine"],
)
def test_other_lines_of_deepspeed(tmp_path: Path, line: str, told: tuple[float | None, ...]) -> None:
    log = read(tmp_path, line.format(25) + line.format(30))

    assert [(step.step, step.step_ns, step.samples_per_s) for step in log.steps] == [(25, *told), (30, *told)]


def test_nemo(tmp_path: Path) -> None:
    line = "Training epoch 0, iteration {0}/99 | lr: 3e-06 | global_batch_size: 8 | global_step: {0} | loss: 9.1 | "
    line += "train_step_timing in s: 1.25 | consumed_samples: 80\n"

    log = read(tmp_path, line.format(9) + line.format(10))

    assert [(step.step, step.step_ns, step.samples) for step in log.steps] == [(9, 1.25 * S, 8), (10, 1.25 * S, 8)]


def test_bars_of_training_among_others(tmp_path: Path) -> None:
    text = (
        bar(4, 4, "00:03", "1.20it/s", before="Loading checkpoint shards: 100%|██████████|")
        + bar(90_000, 90_000, "00:09", "9999.0it/s", before="100%|██████████|")
        + bar(100, 1000, "01:00", "2.00s/it")
        + bar(5, 10, "00:02", "2.50it/s", before=" 50%|█████     |")
        + bar(110, 1000, "01:20", "2.00s/it")
        + bar(115, 1000, "01:30", "?it/s")
        + "\n{'train_runtime': '123.4', 'train_samples_per_second': 12.3, 'train_tokens_per_second': '4567.8'}\n"
        + "  Total train batch size (w. parallel, distributed & accumulation) = 64\n"
        + "  Continuing training from global step 100\n"
    )

    log = read(tmp_path, text)

    assert log.format is LogFormat.PROGRESS_BAR
    assert log.steps == (
        LoggedStep(100, bar_length=1000, wall_ns=60 * S, step_ns=2.0 * S),
        LoggedStep(110, bar_length=1000, wall_ns=80 * S, step_ns=2.0 * S),
    )
    assert log.settings == LogSettings(samples=64, is_resumed=True, samples_per_s=12.3, tokens_per_gpu_per_s=4567.8)


def test_bars_of_lightning(tmp_path: Path) -> None:
    rich = "Epoch 1/9 ━━━━━━━━━━━━━━ {}/100 0:00:{} • 0:01:23 4.00it/s v_num: 0\n"
    text = bar(50, 100, "00:10", "4.00it/s, v_num=2", before="Epoch 0:  50%|█████     |") + "\n"

    log = read(tmp_path, text + rich.format(20, "05") + rich.format(40, "10"))

    assert [(step.step, step.run, step.wall_ns, step.step_ns) for step in log.steps] == [
        (50, 0, 10 * S, S / 4),
        (20, 1, 5 * S, S / 4),
        (40, 1, 10 * S, S / 4),
    ]


def test_timers_in_json_lines(tmp_path: Path) -> None:
    text = (
        "[rank0]: "
        + timer(3, 1700000000.5, 16.7, tokens=4096)
        + timer(4, 1700000019.0, 16.7, tokens=-1)
        + '{"nsysan_timer": 1, "step": 5, "time_s": NaN, "step_s": 1e999}\n'
        + '{"nsysan_timer": 1, "step": 6, "time_s": 170\n'
        + '{"nsysan_timer": 1, "step": 6.5}\n'
        + '{"nsysan_timer": 1, "step": true}\n'
        + '{"nsysan_timer": '
        + "[" * 3000
        + "}\n"
    )

    log = read(tmp_path, text)

    assert log.steps == (
        LoggedStep(3, wall_ns=1_700_000_000_500_000_000, step_ns=16.7 * S, tokens=4096.0),
        LoggedStep(4, wall_ns=1_700_000_019_000_000_000, step_ns=16.7 * S),
        LoggedStep(5),
    )


def test_a_run_that_begins_again(tmp_path: Path) -> None:
    steps = [100, 110, 120, 100, 110, 120, 130]

    log = read(tmp_path, "".join(megatron(step, "9.0") for step in steps))

    assert [(step.step, step.run) for step in log.steps] == list(zip(steps, [0, 0, 0, 1, 1, 1, 1], strict=True))


def test_of_two_formats_the_one_that_tells_most_counts(tmp_path: Path) -> None:
    text = bar(1, 9, "00:01", "1.00it/s") + bar(2, 9, "00:02", "1.00it/s") + "\n" + megatron(1, "9") + megatron(2, "9")

    assert read(tmp_path, text).format is LogFormat.MEGATRON


def test_lines_cut_where_chunks_end_and_lines_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "x" * 9_000 + bar(1, 9, "00:01", "1.00it/s") + bar(2, 9, "00:02", "1.00it/s")
    whole = read(tmp_path, text)
    monkeypatch.setattr(log_lines, "_CHUNK_BYTES", 7)

    assert read(tmp_path, text) == whole
    assert [step.step for step in whole.steps] == [1, 2]


def test_steps_far_behind_much_else(tmp_path: Path) -> None:
    text = "starting\n" * 300_000 + megatron(1, "9") + megatron(2, "9")

    assert len(read(tmp_path, text).steps) == 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (megatron(1, "9"), "holds no figure of it"),
        ("step: 3 of the recipe, 5it/s\n", "is no evidence that nsysan knows"),
        (megatron(1, "9").replace("iteration ", "iter "), "is no evidence that nsysan knows"),
        ("100%|██| 10/10 [00:03<00:00,  3.2it/s", "holds no figure of it"),
        ("Downloading: 10%|██| 1/10 [00:03<00:00,  3.2it/s", "is no evidence that nsysan knows"),
    ],
)
def test_what_tells_of_no_steps_is_refused(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        read(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10,050", 10_050),
        ("1,234,567.5", 1_234_567.5),
        ("5432,1", 5432.1),
        ("1.234,5", 1234.5),
        ("1e-3", 0.001),
        ("1.2.3", None),
        ("12,34,56", None),
        ("1,2345", 1.2345),
    ],
)
def test_notations_of_numbers(text: str, value: float | None) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("01:23", 83), ("1:02:03", 3723), ("1 day, 1:00:00", 90_000), ("2-01:00:00", 176_400), ("83", None)],
)
def test_stop_watches(text: str, seconds: int | None) -> None:
    assert watch_ns(text) == (None if seconds is None else seconds * S)


@pytest.mark.parametrize("text", ["2026-02-30 10:00:00", "2026-01-01 25:00:00", "10:00:00"])
def test_what_is_no_time_of_day(text: str) -> None:
    assert stamp_ns(text) is None
