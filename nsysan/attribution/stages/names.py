"""What names say about stages: of ranges that a program sets around its phases, of operators, and of kernels."""

from __future__ import annotations

import re

from nsysan.attribution.idle.range_causes import cause_of_range
from nsysan.model.idle import Cause
from nsysan.model.stages import Stage


def _pattern(alternatives: str) -> re.Pattern[str]:
    return re.compile(alternatives, re.IGNORECASE)


_BOTH = _pattern(r"(forward|fwd).{0,5}(backward|bwd)")
"""What holds both names neither."""
_OPERATOR = re.compile(r"(aten|autograd|torch|c10d?|prims|inductor|record_param_comms|nccl)\b|.*Backward\d*$")
"""Operators say of single kernels what they are; phases hold all that was launched in them."""
_OTHER = _pattern(r"(?<![a-z])(eval|evaluat\w+|validat\w+|test_step|logging|log_metrics)(?![a-z])")
_OTHER_CAUSES = frozenset({Cause.CHECKPOINT, Cause.GARBAGE_COLLECTION, Cause.HOST_COMMUNICATION})
_PHASES = (
    (
        Stage.GRADIENT_SYNC,
        _pattern(
            r"grad(ient)?s?[-_. ]?(sync|all_?reduce|reduc)|(all_?reduce|reduce(_?scatter)?|sync\w*|average)[-_. ]?grad"
            r"|backward[-_. ]?(all_?reduce|reduce)|finalize_model_grads"
        ),
    ),
    (
        Stage.OPTIMIZER,
        _pattern(
            r"optimizer|(?<![a-z])optim(?![a-z])|(?<![a-z])opt[-_. ]step|zero_grad|clip_?grad|grad_?clip"
            r"|(weight|param\w*)[-_. ]update|(?<![a-z])(fused_?)?adamw?(?![a-z])"
        ),
    ),
    (Stage.BACKWARD, _pattern(r"backward|(?<![a-z])bwd(?![a-z])")),
    (
        Stage.FORWARD,
        _pattern(
            r"forward|(?<![a-z])fwd(?![a-z])|(Strategy\]?\w*|LightningModule\S*)\.training_step|compute_loss"
            r"|(?<![a-z])loss(?![a-z])"
        ),
    ),
)
_BACKWARD_KERNEL = _pattern(r"backward|bwd|dgrad|wgrad|grad_?(input|weight|bias)|gamma_?beta")
_FORWARD_KERNEL = _pattern(r"forward|fwd|fprop")
_LOSS_KERNEL = _pattern(r"nll_?loss|cross_?entropy|mse_?loss|loss_forward")


def is_operator(name: str) -> bool:
    """Whether a range of this name holds a single operator."""
    return _OPERATOR.match(name) is not None


def stage_of_range(name: str) -> Stage | None:
    """The stage that a range of this name is, None where it says none."""
    if _BOTH.search(name):
        return None
    cause = cause_of_range(name)
    if cause is Cause.DATA_LOADING:
        return Stage.DATA
    if cause in _OTHER_CAUSES or _OTHER.search(name):
        return Stage.OTHER
    return next((stage for stage, pattern in _PHASES if pattern.search(name)), None)


def stage_of_operator(name: str) -> Stage | None:
    """Forward or backward, as the name of an operator or of a kernel says; None where it says neither."""
    if _BACKWARD_KERNEL.search(name):
        return Stage.BACKWARD
    return Stage.FORWARD if _FORWARD_KERNEL.search(name) or is_loss(name) else None


def is_loss(name: str) -> bool:
    """Whether a kernel of this name computes the loss, with which a forward ends."""
    return _LOSS_KERNEL.search(name) is not None and _BACKWARD_KERNEL.search(name) is None
