"""Lines of training logs, as frameworks write them."""

from __future__ import annotations


def megatron(step: int, elapsed: str, *, unit: str = "ms", skipped: int = 0, before: str = "") -> str:
    """What Megatron-LM writes."""
    return (
        f"{before} iteration {step:8d}/  250000 | consumed samples: {step * 1024:12d} | elapsed time per iteration "
        f"({unit}): {elapsed} | learning rate: 1.365E-05 | global batch size:  1024 | lm loss: 2.382640E+00 | "
        f"loss scale: 1.0 | number of skipped iterations: {skipped:3d} | number of nan iterations:   0 |\n"
    )


def torchtitan(step: int, time: str, tps: str = "7,450", before: str = "[rank0]:") -> str:
    """What torchtitan writes, ``time`` as in ``16:04:46,338``."""
    return (
        f"{before}[titan] 2026-05-18 {time} - root - INFO - \x1b[31mstep: {step:2d}  \x1b[32mloss:  3.24405  "
        f"\x1b[38;2;180;60;0mgrad_norm:  0.8319  \x1b[34mmemory:  9.46GiB(64.99%)  \x1b[36mtps: {tps}  tflops: 0.52\n"
    )


def bar(step: int, total: int, watch: str, rate: str, before: str = " 10%|█         |") -> str:
    """What tqdm draws over itself."""
    return f"\r{before} {step}/{total} [{watch}<12:30,  {rate}]"


def timer(step: int, time_s: float, step_s: float, **more: object) -> str:
    """What the step timer in docs writes."""
    told = {"nsysan_timer": 1, "step": step, "time_s": time_s, "step_s": step_s, **more}
    return str(told).replace("'", '"') + "\n"
