"""How frameworks spell the NVTX ranges around a training step and its phases."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from nsysan.synth.numbering import Numbering
from nsysan.synth.simulation.program import Push
from nsysan.synth.training.domains import DEFAULT_DOMAIN, XLA_DOMAIN

_LOADER = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
_OPTIMIZER = "Optimizer.step#AdamW.step"
_OWN_STEP = "step {}"


class Spelling(msgspec.Struct, frozen=True, kw_only=True):
    """The texts; ``{}`` in that of a step is its number, a text of None is a range the framework does not have.

    ``profiler_step`` is the range that a profiler with a schedule puts around each step of the framework.
    """

    step: str | None
    forward: str | None
    backward: str | None
    loader: str | None = _LOADER
    optimizer: str | None = _OPTIMIZER
    step_domain_id: int = DEFAULT_DOMAIN
    profiler_step: str | None = None

    def step_ranges(self, number: int) -> tuple[Push, ...]:
        """The ranges around a step, the outermost first, which marks it."""
        own = Push(_numbered(self.step, number), self.step_domain_id)
        outermost, *inner = (own,) if self.profiler_step is None else (Push(_numbered(self.profiler_step, number)), own)
        return (replace(outermost, marks_step=True), *inner)

    def under_profiler(self) -> Spelling:
        """The same recorded by PyTorch's profiler, whose ``step()`` takes the place of a loop's own numbering."""
        own = None if self.step == _OWN_STEP else self.step
        return replace(self, step=own, profiler_step="ProfilerStep#{}")

    def numbering(self, step_count: int) -> Numbering:
        """How the markers of ``step_count`` steps are numbered, if they are."""
        prefix, number, _ = (self.step or "").partition("{}")
        return Numbering(prefix=prefix, count=step_count if number else 0)


SPELLINGS = {
    "pytorch": Spelling(step=_OWN_STEP, forward="forward", backward="backward"),
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


def _numbered(text: str | None, number: int) -> str | None:
    return None if text is None else text.replace("{}", str(number))
