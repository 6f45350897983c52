"""The NVTX domains of a simulated process."""

DEFAULT_DOMAIN = 0
NCCL_DOMAIN = 1
XLA_DOMAIN = 2

DOMAIN_NAMES = {NCCL_DOMAIN: "NCCL", XLA_DOMAIN: "TSL"}
"""By id; the default domain has none."""
