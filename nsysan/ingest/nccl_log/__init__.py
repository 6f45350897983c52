"""Logs of NCCL, line by line."""
