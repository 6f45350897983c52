"""NVTX ranges: who holds what, how long, and how much GPU time was launched inside."""
