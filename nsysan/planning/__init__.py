"""Arithmetic on throughput: the floating-point operations and the memory of a model, MFU, scaling and cost."""
