"""The jobs of ``docs/worked-case.md``: one that grows from 64 GPUs to 128 and hardly gets faster, and what mends it."""
