"""How frameworks spell the NVTX ranges around a training step and its phases."""

from __future__ import annotations

from dataclasses import dataclass

from nsysan.synth.numbering import Numbering
from nsysan.synth.training.domains import DEFAULT_DOMAIN, XLA_DOMAIN

_LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
_OPTIMIZER = "Optimizer.step#AdamW.step"


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """The texts; ``{}`` in that of a step is its number, a text of None is a range the framework does not have."""

    step: str | None
    forward: str | None
    backward: str | None
    loader: str | None = _LOADER
    optimizer: str | None = _OPTIMIZER
    step_domain_id: int = DEFAULT_DOMAIN

    def step_text(self, number: int) -> str | None:
        """The text of a step's marker."""
        return None if self.step is None else self.step.replace("{}", str(number))

    def numbering(self, step_count: int) -> Numbering:
        """How the markers of ``step_count`` steps are numbered, if they are."""
        prefix, number, _ = (self.step or "").partition("{}")
        return Numbering(prefix=prefix, count=step_count if number else 0)


SPELLINGS = {
    "pytorch": Spelling(step="step {}", forward="forward", backward="backward"),
    "lightning": Spelling(
        step="[pl][profile]run_training_batch",
        forward="[pl][profile][Strategy]DDPStrategy.training_step",
        backward="[pl][profile][Strategy]DDPStrategy.backward",
    ),
    "megatron-bridge": Spelling(
        step="training_step_{}", forward=None, backward=None, optimizer="Optimizer.step#FusedAdam.step"
    ),
    "deepspeed": Spelling(step=None, forward="DeepSpeedEngine.forward", backward="DeepSpeedEngine.backward"),
    "jax": Spelling(
        step="XlaModule:#hlo_module=jit_train_step,program_id=12#",
        forward=None,
        backward=None,
        loader=None,
        optimizer=None,
        step_domain_id=XLA_DOMAIN,
    ),
}
"""By framework. A loop of one's own under PyTorch's emit_nvtx numbers its steps as it likes, here ``step 7``."""
