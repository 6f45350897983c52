"""From --model to MFU, tokens and costs, over the whole way."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from nsysan.analysis.baseline import FROM_MODEL, Baseline
from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.cli.main import main
from nsysan.model.ceilings import Dtype, Origin
from nsysan.model.errors import UsageError
from nsysan.pipeline.analyze import AnalyzeOptions, analyze
from nsysan.pipeline.model_file import read_model
from nsysan.pipeline.throughput import ThroughputOptions
from nsysan.planning.throughput import CostRow, Throughput, ThroughputReport
from nsysan.report.formats.text import render_text
from nsysan.report.sections.throughput import SECTION, ThroughputView, throughput_paragraph
from nsysan.synth.export import Export
from nsysan.synth.generate import generate
from nsysan.synth.request import Request
from nsysan.synth.scenario import find_scenario
from tests.hardware.ceilings import ceilings, gemm
from tests.planning.test_published_figures import LLAMA_8B
from tests.runs import result_of

if TYPE_CHECKING:
    from pathlib import Path

S = 1_000_000_000
GEMM = "ampere_sgemm_128x64_tn"


def waiting_job() -> Export:
    """Steps of 2 s, of which the GPU waits for data for 0.4 s."""
    export = Export()
    for step in range(5):
        begin = step * 2 * S
        export.nvtx(begin, begin + 2 * S - 1, f"step {step}")
        for half, (start, end) in enumerate(((0, 8 * S // 10), (12 * S // 10, 2 * S))):
            number = 2 * step + half + 1
            export.call(begin + start, begin + start + 1_000, "cudaLaunchKernel", correlation=number)
            export.kernel(begin + start + 1_000, begin + end, GEMM, correlation=number)
        export.nvtx(begin + 8 * S // 10, begin + 12 * S // 10, "DataLoader.__next__")
    return export


def test_mfu_tokens_and_costs_follow_from_model_peak_and_price(tmp_path: Path) -> None:
    path = waiting_job().write(tmp_path / "rank0.sqlite")
    options = AnalyzeOptions(throughput=ThroughputOptions(LLAMA_8B, 989e12, "bf16", 2.0))

    run = analyze([path], options)

    report = result_of(run, Throughput).throughput
    # 8,192 tokens in 2 s, on one GPU at 2 an hour
    assert report.unknown == {"mfu": "needs how many GPUs the whole job has: give --world-size", **NO_COST}
    assert report.tokens_per_s == 4096
    assert result_of(run, Baseline).baseline.tokens_per_s == 4096
    (cost,) = report.costs
    assert replace(cost, saved_frac=0.2) == CostRow("data_loading", "data_loading", 0.2, None)
    assert cost.saved_frac == pytest.approx(0.2, abs=1e-5)


def test_what_a_log_tells_stays_where_no_model_tells_better(tmp_path: Path) -> None:
    path = waiting_job().write(tmp_path / "rank0.sqlite")
    log = tmp_path / "train.jsonl"
    log.write_text(
        "".join(
            f'{{"nsysan_timer": 1, "step": {step}, "time_s": {1e9 + 2 * step}, "step_s": 2.0, "tokens": 9000}}\n'
            for step in range(5)
        )
    )

    priced = analyze([path], AnalyzeOptions(evidence=(log,), throughput=ThroughputOptions(price=2.0)))
    modelled = analyze([path], AnalyzeOptions(evidence=(log,), throughput=ThroughputOptions(LLAMA_8B)))

    of_log, of_model = (result_of(run, Baseline).baseline for run in (priced, modelled))
    assert (of_log.tokens_per_s, of_log.unknown.get("tokens_per_s")) == (4500, None)
    assert (of_log.tokens_per_s_source or "").startswith("train.jsonl")
    assert (of_model.tokens_per_s, of_model.tokens_per_s_source) == (4096, FROM_MODEL)


NO_COST = {"cost_per_hour": "needs how many GPUs the whole job has: give --world-size"}


def test_the_command_says_both_conventions_and_refuses_more_than_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = str(waiting_job().write(tmp_path / "rank0.sqlite"))
    keys = {"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "ffn": 14336, "gated": True, "vocabulary": 128256}
    (tmp_path / "model.json").write_text(json.dumps(keys))
    given = ["--peak", "989e12", "--world-size", "1", "--price", "2"]

    done = main(["analyze", path, "--model", "model.json,sequence=8192,global_batch=1", *given])
    told = capsys.readouterr().out
    refused = main(["analyze", path, "--model", "model.json,sequence=8192,global_batch=64", *given])

    # 8,192 tokens x 57.9e9 FLOP of all scores in 2 s of 989e12: D9's 39.0 % at 6,667 tokens/s is 24.0 % at 4,096
    assert done == 0
    assert "4,096 tokens a second, MFU 21.3 % (causal attention), MFU 24.0 % (full attention), 2.00 an hour." in told
    assert refused == 2
    assert "which cannot be" in capsys.readouterr().err


def test_without_a_model_there_is_no_section(tmp_path: Path) -> None:
    path = waiting_job().write(tmp_path / "rank0.sqlite")
    with_model = analyze([path], AnalyzeOptions(throughput=ThroughputOptions(LLAMA_8B)))

    assert SECTION.build(analyze([path], AnalyzeOptions())) is None
    view = SECTION.build(with_model)
    assert isinstance(view, ThroughputView)
    assert "MFU is not known: needs how many GPUs the whole job has: give --world-size." in view.sentences


def named_gpu(export: Export, name: str = "NVIDIA H100 80GB HBM3") -> Export:
    return export.gpu(uuid="0000-01", name=name).cuda_device(uuid="0000-01")


def told(export: Export, folder: Path, options: ThroughputOptions, **more: Any) -> ThroughputReport:
    chosen = AnalyzeOptions(throughput=options, ranks=RankChoice(world_size=1), **more)
    return result_of(analyze([export.write(folder / "r.sqlite")], chosen), Throughput).throughput


def test_without_a_peak_the_data_sheet_of_the_gpu_counts(tmp_path: Path) -> None:
    # D9's 39.0 % of 989 TFLOP/s at 6,667 tokens/s is 24.0 % at 4,096
    known = told(named_gpu(waiting_job()), tmp_path, ThroughputOptions(LLAMA_8B, dtype="bf16"))
    nameless = told(waiting_job(), tmp_path, ThroughputOptions(LLAMA_8B, dtype="bf16"))
    typeless = told(named_gpu(waiting_job()), tmp_path, ThroughputOptions(LLAMA_8B))

    assert (known.peak_flop_per_s, known.peak_source) == (989.4e12, "NVIDIA H100 data sheet, sparse figures halved")
    assert [row.mfu for row in known.utilisation] == pytest.approx([0.213, 0.240], abs=0.0005)
    # C84: the peak is that of the data type, and is told with it
    narrow = told(named_gpu(waiting_job()), tmp_path, ThroughputOptions(LLAMA_8B, dtype="fp8"))
    assert (narrow.peak_flop_per_s, narrow.dtype) == (1979e12, "fp8")
    assert [row.mfu for row in narrow.utilisation] == pytest.approx([0.1065, 0.120], abs=0.0005)
    # C75: a GPU without a name has no peak, and none is made up for a type that nobody told
    assert [nameless.peak_flop_per_s, typeless.peak_flop_per_s] == [None, None]
    assert {"mfu"} == set(nameless.unknown) == set(typeless.unknown)


def test_text_and_refusal_name_the_data_type_of_the_peak(tmp_path: Path) -> None:
    slow = replace(LLAMA_8B, dtype="float32", layers=1, vocabulary=9)
    fast = replace(LLAMA_8B, dtype="float32", global_batch=4)

    report = told(named_gpu(waiting_job()), tmp_path, ThroughputOptions(slow))
    with pytest.raises(UsageError) as refused:
        told(named_gpu(waiting_job()), tmp_path, ThroughputOptions(fast))

    assert report.peak_flop_per_s == 67e12
    assert "(full attention) of the float32 peak" in throughput_paragraph(report)
    assert "of 6.7e+13 FLOP/s (float32 as the model says, --dtype says otherwise, NVIDIA H100 data sheet" in (
        refused.value.hint or ""
    )


def test_a_data_type_without_a_peak_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match="'bf17' is no data type") as refused:
        ThroughputOptions(LLAMA_8B, dtype="bf17")

    assert (refused.value.hint or "").startswith("Known types: fp64, fp32, tf32, bf16, fp16, fp8, ")


def test_a_data_type_of_the_model_that_no_peak_is_known_of_is_named(tmp_path: Path) -> None:
    found = told(named_gpu(waiting_job()), tmp_path, ThroughputOptions(replace(LLAMA_8B, dtype="bf17")))

    assert (
        found.unknown["mfu"] == "needs a data type that peaks are known of, as 'bf17' of the model is not: give --dtype"
    )


def test_a_byte_order_mark_before_a_model_is_no_part_of_it(tmp_path: Path) -> None:
    keys = {"layers": 2, "hidden": 64, "heads": 4, "vocabulary": 100}
    marked, plain = tmp_path / "marked.json", tmp_path / "plain.json"
    marked.write_text(json.dumps(keys), "utf-8-sig")
    plain.write_text(json.dumps(keys), "utf-8")

    assert read_model(str(marked)) == read_model(str(plain))


def test_a_model_spread_over_more_gpus_than_the_job_has_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="tensor_parallel 64 needs 64 GPUs, and the job has 1"):
        told(waiting_job(), tmp_path, ThroughputOptions(replace(LLAMA_8B, tensor_parallel=64)))


def test_a_part_of_a_gpu_is_not_held_against_the_whole(tmp_path: Path) -> None:
    # C72: 16 of 132 SMs
    part = waiting_job().gpu(uuid="MIG-a", name="NVIDIA H100 80GB HBM3 MIG 1g.10gb", sm_count=16)
    tiny = replace(LLAMA_8B, layers=1, vocabulary=1_000)

    found = told(part.cuda_device(uuid="MIG-a"), tmp_path, ThroughputOptions(tiny, dtype="bf16"))

    assert found.peak_flop_per_s == pytest.approx(989.4e12 * 16 / 132)


def test_without_shapes_kernels_that_multiply_have_one_rate_of_the_models_work(tmp_path: Path) -> None:
    found = told(named_gpu(waiting_job()), tmp_path, ThroughputOptions(LLAMA_8B, dtype="bf16"))
    refused = told(waiting_job(), tmp_path, ThroughputOptions(LLAMA_8B, 260e12, "bf16"))

    # the work of an MFU of 21.3 and 24.0 % in the 1.6 of 2 s in which the kernels run
    assert found.multiplying_ns_per_step == pytest.approx(1.6 * S, rel=1e-5)
    rates = [(row.multiplying_flop_per_s or 0) / 989.4e12 for row in found.utilisation]
    assert rates == pytest.approx([0.213 / 0.8, 0.240 / 0.8], abs=0.0006)
    assert "Kernels that multiply take 1.600 s of a step and so reach 263." in throughput_paragraph(found)
    # 297 TFLOP/s are more than such a GPU can
    assert [row.multiplying_flop_per_s is None for row in refused.utilisation] == [False, True]
    assert list(refused.unknown) == ["multiplying_flop_per_s"]


def test_mfu_is_told_against_measured_products_too(tmp_path: Path) -> None:
    measured = ceilings(gemm=(gemm(8192, 8192, 8192, 700), gemm(8192, 8192, 8192, 1300, dtype=Dtype.FP8)))

    found = told(named_gpu(waiting_job()), tmp_path, ThroughputOptions(LLAMA_8B, dtype="bf16"), ceilings=measured)

    assert (found.measured_flop_per_s, found.measured_source) == (700e12, "measured bf16 8192 x 8192 x 8192")
    of_sheet = [row.mfu for row in found.utilisation]
    assert [row.mfu_of_measured for row in found.utilisation] == pytest.approx(
        [(share or 0) * 989.4 / 700 for share in of_sheet]
    )
    simulated = replace(measured, origin=Origin.SIMULATED)
    guessed = told(named_gpu(waiting_job()), tmp_path, ThroughputOptions(LLAMA_8B, dtype="bf16"), ceilings=simulated)
    assert [row.mfu_of_measured for row in guessed.utilisation] == [None, None]
    said = "Against the fastest product measured MFU is 30.1 % (causal attention) and 33.9 % (full attention)."
    assert said in throughput_paragraph(found)


def test_what_is_not_known_is_said_in_the_text_and_nothing_else(tmp_path: Path) -> None:
    path = waiting_job().write(tmp_path / "rank0.sqlite")
    without_batch = replace(LLAMA_8B, global_batch=None)

    def text(options: ThroughputOptions) -> str:
        return render_text(analyze([path], AnalyzeOptions(throughput=options))).replace("\n", " ")

    priced, batchless, worldless = (
        text(options)
        for options in (
            ThroughputOptions(price=2.0),
            ThroughputOptions(without_batch, 989e12, "bf16"),
            ThroughputOptions(LLAMA_8B, 989e12, "bf16"),
        )
    )

    assert "The cost of an hour is not known: needs how many GPUs the whole job has: give --world-size." in priced
    assert "MFU and tokens a second are not known: needs sequence and global_batch of the model" in batchless
    assert "4,096 tokens a second. MFU is not known: needs how many GPUs the whole job has" in worldless
    assert "What the model says" not in priced + batchless + worldless


def test_a_layout_that_spares_transfer_is_the_reason_for_advice(tmp_path: Path) -> None:
    made = generate(Request(scenario=find_scenario("tensor_parallel"), rank_count=8, step_count=4))
    paths = [export.write(tmp_path / file) for file, export in made.exports.items()]
    shape = replace(LLAMA_8B, layers=4, global_batch=8, micro_batch=4, tensor_parallel=8)

    run = analyze(paths, AnalyzeOptions(throughput=ThroughputOptions(shape), ranks=RankChoice(world_size=8)))

    own, fewer = result_of(run, Throughput).throughput.layouts
    assert (own.tensor_parallel, own.data_parallel, fewer.tensor_parallel, fewer.data_parallel) == (8, 1, 4, 2)
    # 4 layers, 2 micro-batches, 4 all-reduces of 4 x 8192 x 4096 numbers of 2 bytes, each 2 x 7 / 8 times; 360 GB/s
    assert own.sent_bytes_per_step == 4 * 4 * 8 * 8192 * 4096 * 2 * 14 // 8
    assert own.transfer_ns_per_step == pytest.approx(own.sent_bytes_per_step / 360, rel=1e-6)
    [finding] = [found for found in run.findings if found.cause == "exposed_collective"]
    [reason] = [one.sentence for one in finding.evidence if one.source == Throughput.id]
    assert reason.startswith("With tensor parallelism over half as many ranks a GPU sends ")
    assert any(sentence.startswith("Share tensors over fewer ranks") for sentence in finding.advice)


def two_ranks(extra_ns: int) -> Export:
    """The job on two GPUs, each step longer by what both compute more and by a transfer of 0.2 s that nothing hides."""
    export = Export()
    step_ns = 2 * S + extra_ns + S // 5
    for pid in (100, 200):
        for step in range(5):
            begin, number = step * step_ns, 2 * step + 1
            export.nvtx(begin, begin + step_ns - 1, f"step {step}", pid=pid)
            export.call(begin, begin + 1_000, "cudaLaunchKernel", pid=pid, correlation=number)
            export.call(begin + 1_000, begin + 2_000, "cudaLaunchKernel", pid=pid, correlation=number + 1)
            export.kernel(begin + 2_000, begin + 2 * S + extra_ns, GEMM, pid=pid, device=pid // 100, correlation=number)
            name = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096>)"
            export.kernel(
                begin + 2 * S + extra_ns,
                begin + step_ns,
                name,
                pid=pid,
                device=pid // 100,
                stream=13,
                correlation=number + 1,
            )
    return export


def test_efficiency_against_a_smaller_run_is_a_product(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    small, large = (export.write(tmp_path / name) for export, name in ((waiting_job(), "a"), (two_ranks(S // 5), "b")))
    assert main(["analyze", str(small), "--json", "small.json", "-q"]) == 0
    capsys.readouterr()

    assert main(["analyze", str(large), "--smaller", "small.json", "--world-size", "2"]) == 0
    # 2 s become 2.4: 0.2 more compute and 0.2 of transfer
    told = capsys.readouterr().out.replace("\n", " ")
    assert "Efficiency 83.3 % of 1 GPU" in told
    assert "compute 0.909 x exposed communication 0.917 x waiting 1.000" in told
    assert main(["analyze", str(small), "--smaller", "small.json"]) == 2


@pytest.mark.parametrize("given", [("--peak", "nan"), ("--peak", "inf"), ("--price", "inf"), ("--price", "0")])
def test_what_is_no_amount_is_refused(given: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "rank0.sqlite", *given]) == 2

    assert f"Invalid value for '{given[0]}'" in capsys.readouterr().err
