"""What PyTorch writes behind a name, and the name that ranges share."""

from __future__ import annotations

import pytest

from nsysan.attribution.ranges.names import OperatorText, group_name, numbers_in, parse_operator


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        (
            "aten::mm, op_id = 7, sizes = [[8192, 4096], [4096, 14336]]",
            ("aten::mm", None, 7, ([8192, 4096], [4096, 14336])),
        ),
        ("aten::linear, seq = 46175, op_id = 993407", ("aten::linear", 46175, 993407, None)),
        (
            "aten::cat, seq = 12, op_id = 7, sizes = [[[2, 3], [2, 3]], []], input_op_ids = [(6,0), (-1,-1)]",
            ("aten::cat", 12, 7, ([[2, 3], [2, 3]], [])),
        ),
        ("aten::mm, sizes = [[8192, 4096], [4096, 14336]]", ("aten::mm", None, None, ([8192, 4096], [4096, 14336]))),
        ("forward", ("forward", None, None, None)),
        ("aten::mm, sizes = [[8192, ", ("aten::mm, sizes = [[8192, ", None, None, None)),
        ("x, sizes = []]", ("x", None, None, None)),
        ("x, sizes = " + "[" * 5_000 + "]" * 5_000, ("x", None, None, None)),
    ],
)
def test_an_operator_is_parsed(
    text: str, parsed: tuple[str, int | None, int | None, tuple[object, ...] | None]
) -> None:
    assert parse_operator(text) == OperatorText(*parsed)


@pytest.mark.parametrize(
    ("text", "group", "numbers"),
    [
        ("step 12", "step *", [12]),
        ("iteration12", "iteration*", [12]),
        ("ProfilerStep#6", "ProfilerStep#*", [6]),
        ("epoch 3, batch 14", "epoch *, batch *", [3, 14]),
        ("layers.10.mlp", "layers.*.mlp", [10]),
        ("FSDP::pre_forward (blocks.3._wrapped)", "FSDP::pre_forward (blocks.*._wrapped)", [3]),
        ("train#step_num=12#", "train#step_num=*#", [12]),
        ("conv2d", "conv2d", []),
        ("lr 0.25", "lr *", []),
        ("all_gather_fp16", "all_gather_fp16", []),
        ("aten::mm, seq = 4, op_id = 5", "aten::mm", []),
    ],
)
def test_ranges_that_count_share_a_name(text: str, group: str, numbers: list[int]) -> None:
    assert (group_name(text), numbers_in(text)) == (group, numbers)
