"""What a file of ceilings says of where a library is from."""

from __future__ import annotations

import pytest

from nsysan.calibrate.libraries import shown_path


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("libcuda.so.1", "libcuda.so.1"),
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
        ("/usr/local/cuda/lib64/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13"),
        (
            "/home/anna/.venv/lib/python3.12/site-packages/nvidia/nccl/lib/libnccl.so.2",
            "site-packages/nvidia/nccl/lib/libnccl.so.2",
        ),
        ("/scratch/anna/site-packages/anna/site-packages/libnccl.so.2", "site-packages/libnccl.so.2"),
        ("/home/anna/my-site-packages/anna/libnccl.so.2", "libnccl.so.2"),
        ("/data/anna/conda/lib/libnccl.so.2", "libnccl.so.2"),
        ("/usr/../home/anna/libnccl.so.2", "libnccl.so.2"),
        ("/lib64/lib\x1b[2Jnccl.so.2", "/lib64/lib\\x1b[2Jnccl.so.2"),
    ],
)
def test_a_path_names_nobody(path: str, shown: str) -> None:
    assert shown_path(path) == shown
