"""Traces of the PyTorch profiler: the JSON that Kineto writes, read event by event."""
