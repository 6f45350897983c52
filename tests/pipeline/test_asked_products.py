"""The products that a calibration is asked for: of a model's configuration, a report, or a saved run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.calibrate.shapes import Shape
from nsysan.cli.main import main
from nsysan.model.ceilings import Dtype, Transposes
from nsysan.model.errors import InputError
from nsysan.pipeline.asked_products import asked_products
from nsysan.synth.export import Export
from tests.analysis.test_gemms import one_product

# torch has 8192 x 4096 by 4096 x 14336; in columns the product is 14336 x 8192
OF_C86 = tuple((Dtype.BF16, Shape(14336, 8192, 4096, way)) for way in Transposes)


def test_those_of_a_report(tmp_path: Path) -> None:
    assert asked_products(one_product(1_400_000).write(tmp_path / "rank0.sqlite")) == OF_C86


def test_those_of_a_saved_run(tmp_path: Path) -> None:
    report = one_product(1_400_000).write(tmp_path / "rank0.sqlite")
    assert main(["analyze", str(report), "-q", "--json", str(tmp_path / "run.json")]) == 0
    assert asked_products(tmp_path / "run.json") == OF_C86


def test_those_of_a_model_are_of_every_data_type(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    config = {"hidden_size": 64, "intermediate_size": 256, "num_attention_heads": 8, "vocab_size": 1000}
    path.write_text(json.dumps(config))
    asked = asked_products(path)
    assert {dtype for dtype, _ in asked} == set(Dtype)
    assert (Dtype.BF16, Shape(1000, 4096, 64, Transposes.TN)) in asked


def test_a_report_without_shapes_tells_how_to_record_them(tmp_path: Path) -> None:
    silent = (
        Export().gpu().kernel(0, 1000, "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN").write(tmp_path / "rank0.sqlite")
    )
    with pytest.raises(InputError, match=r"rank0\.sqlite tells no products: FLOP/s needs shapes") as why:
        asked_products(silent)
    assert "record_shapes=True" in why.value.hint


def test_what_is_no_input_at_all(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{}")
    with pytest.raises(InputError, match="no model's config"):
        asked_products(path)
