"""Samples as figures, how many are taken, where a curve needs more points, random data, and models' shapes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from nsysan.calibrate.data_types import GEMM_TYPES, decoded, element_bits, random_block
from nsysan.calibrate.measurements.collectives import next_size
from nsysan.calibrate.shapes import Shape, Transformer, shapes_of_model, usual_shapes
from nsysan.calibrate.spread import doubts, spread_of
from nsysan.model.ceilings import Dtype, Spread, Transposes
from nsysan.model.errors import InputError


def test_a_spread_is_arithmetic() -> None:
    # sorted 1 2 3 4 10: median 3, distances 2 1 0 1 7 of which the median is 1; nearest ranks are the ends
    assert spread_of([3, 1, 10, 2, 4]) == Spread(5, 3, 1, 10, 1, 1, (3, 1, 10, 2, 4))
    assert spread_of(list(range(1, 101))).p95 == 95
    assert spread_of(list(range(1, 101))).samples == ()


def test_what_should_make_one_careful() -> None:
    assert list(doubts([100.0] * 20)) == []
    assert list(doubts([100.0, 110.0] * 10)) == ["unstable: samples are more than 5 % apart"]
    assert list(doubts([100.0] * 10 + [104.0] * 10)) == ["drifting: the second half of the samples is 4.0% slower"]


def test_points_are_added_where_the_slope_changes() -> None:
    # flat, then a jump between 64 and 128 bytes
    curve = [(16, 10.0), (32, 10.0), (64, 10.0), (128, 30.0), (256, 30.0)]
    assert next_size(curve) == 96
    assert next_size([(16, 10.0), (32, 10.5), (64, 11.0)]) is None
    assert next_size([]) is None


@pytest.mark.parametrize("dtype", Dtype)
def test_random_data_are_what_the_bits_say(dtype: Dtype) -> None:
    """The values that a product is checked with are those of the stored bits, and no NaN is among them."""
    kind = GEMM_TYPES[dtype]
    block = random_block(kind.factor, 1)
    assert len(block.bytes) * 8 // element_bits(kind.factor) == len(block.values)
    assert np.isfinite(block.values).all()
    assert abs(block.values.mean()) < 0.5
    assert block is random_block(kind.factor, 1)
    if dtype in {Dtype.FP64, Dtype.FP32, Dtype.FP16, Dtype.BF16}:
        assert (decoded(block.bytes[:800], kind.factor) == block.values[: 8 * 800 // element_bits(kind.factor)]).all()


def test_known_numbers_in_eight_bits() -> None:
    """1.0 is 0x38 in e4m3, -0.5 is 0xb0, the largest 448 is 0x7e; a nearest number is within half a step."""
    block = random_block(GEMM_TYPES[Dtype.FP8].factor, 1)
    codes = np.frombuffer(block.bytes, np.uint8)
    assert set(block.values[codes == 0x38]) == {1.0}
    assert set(block.values[codes == 0xB0]) == {-0.5}
    normal = np.random.default_rng(1).standard_normal(len(codes))
    assert (np.abs(block.values - normal) <= np.maximum(np.abs(normal) / 16, 2.0**-10) + 1e-12).all()


def test_the_products_of_a_model(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    config = {
        "hidden_size": 64,
        "intermediate_size": 256,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "vocab_size": 1000,
    }
    path.write_text(json.dumps(config))
    shapes = shapes_of_model(path)
    assert shapes == tuple(Transformer(64, 256, 8, 2, 1000).shapes(4096))
    # queries, keys and values: 64 + 2 x 2 heads of 8
    assert {
        Shape(96, 4096, 64, Transposes.TN),
        Shape(64, 4096, 96, Transposes.NN),
        Shape(64, 96, 4096, Transposes.NT),
    } <= {*shapes}


@pytest.mark.parametrize("is_quick", [True, False])
def test_large_squares_are_measured_in_each_way_of_transposing(is_quick: bool) -> None:  # noqa: FBT001 - a parameter
    shapes = usual_shapes(is_quick=is_quick)
    assert {Shape(side, side, side, way) for side in (4096, 8192) for way in Transposes} <= set(shapes)
    assert len(shapes) == len(set(shapes))


@pytest.mark.parametrize("text", ["{", "[]", '{"hidden_size": 0}', '{"hidden_size": "x"}', "[" * 9999])
def test_what_is_no_model(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    with pytest.raises(InputError, match="is no model's config"):
        shapes_of_model(path)
