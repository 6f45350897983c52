"""``run.json`` and its published schema, word for word. NSYSAN_UPDATE_GOLDEN=1 (make golden) writes them anew."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from nsysan.model.errors import InputError
from nsysan.model.run_json import decode_run, encode_run, run_schema
from nsysan.pipeline.result_types import result_types
from nsysan.synth.export import Export
from tests.runs import analyze_exports

GOLDEN = Path(__file__).with_name("run.json")
SCHEMA = Path(str(files("nsysan.model"))) / "run.schema.json"


def _small_job() -> Export:
    """Two GPUs, one shared by two processes: every part, an excluded record, a lost name, a hostile one."""
    export = Export().session(utc_epoch_ns=1_779_630_014_975_716_426, duration_ns=2000)
    export.gpu(0, uuid="GPU-a").gpu(1, uuid="GPU-b").environment("WANDB_API_KEY", "secret").host("node1")
    for pid, gpu_id in ((100, 0), (200, 0), (300, 1)):
        export.cuda_device(pid=pid, gpu_id=gpu_id, uuid=f"GPU-{'ab'[gpu_id]}")
    export.kernel(100, 300, "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN")
    export.kernel(250, 400, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevComm*)", stream=9)
    export.kernel(420, 440, "allreduce_fusion_kernel_oneshot_lamport(int)").kernel(0, 0, "my_kernel")
    export.graph(500, 600, pid=200).memset(620, 640, 4096, pid=200)
    export.copy(700, 800, 6400, kind=1, src_memory=0).copy(810, 830, 800, kind=10, src_memory=2)
    return export.kernel(900, 1000, "</script><script>alert(1)</script>\u2028", pid=300)


def test_run_json_is_the_golden_one(tmp_path: Path) -> None:
    run = replace(analyze_exports(tmp_path, _small_job()), created_utc="2026-01-01T00:00:00Z")

    _compare_or_update(
        GOLDEN, encode_run(replace(run, nsysan_version="0", provenance=replace(run.provenance, tool="nsysan 0")))
    )


def test_the_schema_is_the_published_one() -> None:
    _compare_or_update(SCHEMA, (json.dumps(run_schema(result_types()), indent=1) + "\n").encode())


def test_the_golden_run_fits_the_schema() -> None:
    schema = json.loads(SCHEMA.read_text())

    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(json.loads(GOLDEN.read_text()), schema)


def test_a_wrong_type_does_not_fit_the_schema() -> None:
    document = json.loads(GOLDEN.read_text())
    document["gpus"][0]["time"]["idle_ns"] = "much"

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, json.loads(SCHEMA.read_text()))


def test_reading_and_writing_again_gives_the_same_bytes() -> None:
    data = GOLDEN.read_bytes()

    assert encode_run(decode_run(data, result_types())) == data


def test_no_two_results_share_a_key() -> None:
    keys = [key for result_type in result_types() for key in result_type.__annotations__ if key != "id"]

    assert len(keys) == len(set(keys))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda document: json.dumps(document)[:-20], "This is no run.json"),
        (lambda _document: "[1, 2]", "This JSON holds no nsysan run"),
        (lambda document: json.dumps(document | {"schema_version": 99}), "has schema version 99"),
        (lambda document: json.dumps(document | {"gpus": 3}), "does not fit its schema"),
        (lambda _document: "[" * 100_000, "This is no run.json"),
    ],
)
def test_what_is_no_run_is_refused(damage: Any, sentence: str) -> None:
    data = damage(json.loads(GOLDEN.read_text())).encode()

    with pytest.raises(InputError, match=sentence):
        decode_run(data, result_types())


def test_secrets_and_identity_are_not_in_the_run() -> None:
    text = GOLDEN.read_text()

    assert "secret" not in text
    assert "node1" not in text


def _compare_or_update(path: Path, data: bytes) -> None:
    if os.environ.get("NSYSAN_UPDATE_GOLDEN"):
        path.write_bytes(data)
    assert path.read_bytes() == data
