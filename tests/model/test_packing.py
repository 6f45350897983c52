"""Packed numbers, read back by the description in the documents."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nsysan.model import packing
from nsysan.model.packing import pack
from tests.unpacking import unpack


@given(st.lists(st.integers(0, 2**63 - 1)))
def test_every_number_comes_back(numbers: list[int]) -> None:
    packed = pack(np.array(numbers, dtype=np.int64))

    assert unpack(packed) == numbers
    assert packing.unpack(packed).tolist() == numbers


@pytest.mark.parametrize(
    ("number", "expected"),
    # 300 = 2 * 128 + 44, and 44 + 128 = 172; 2^63 - 1 are nine bytes of seven bits set
    [(0, [0]), (127, [127]), (128, [128, 1]), (300, [172, 2]), (2**63 - 1, [255] * 8 + [127])],
)
def test_seven_bits_a_byte_the_lowest_first(number: int, expected: list[int]) -> None:
    assert list(base64.b64decode(pack(np.array([number])))) == expected


def test_numbers_below_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 on"):
        pack(np.array([1, -1]))


@pytest.mark.parametrize("packed", ["no base64!", "\u00e9", "gA==", base64.b64encode(b"\xff" * 9 + b"\x01").decode()])
def test_what_packs_no_numbers_is_refused(packed: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        packing.unpack(packed)
