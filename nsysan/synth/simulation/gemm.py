"""The shape of a matrix multiplication."""

from __future__ import annotations

import msgspec


class GemmShape(msgspec.Struct, frozen=True, order=True):
    """C[m, n] = A[m, k] B[k, n]."""

    m: int
    n: int
    k: int

    @property
    def flop(self) -> int:
        """2 m n k: a multiplication and an addition per term."""
        return 2 * self.m * self.n * self.k

    @property
    def sizes(self) -> str:
        """The operands as PyTorch writes them into an NVTX range: ``[[8192, 4096], [4096, 14336]]``."""
        return f"[[{self.m}, {self.k}], [{self.k}, {self.n}]]"
