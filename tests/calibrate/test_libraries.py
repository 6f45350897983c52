"""What a file of ceilings says of where a library is from."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.calibrate.libraries import load_companions, nvrtc_for, shown_path


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


def test_what_nvrtc_asks_for_by_name_is_loaded_from_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr("ctypes.CDLL", loaded.append)
    monkeypatch.chdir(tmp_path)
    names = ("libnvrtc.so.13", "libnvrtc-builtins.so.13.0", "libnvrtc-builtins.alt.so.13.0", "libcudart.so.13")
    for name in names:
        (tmp_path / name).touch()
    nvrtc = nvrtc_for(13000)

    load_companions(str(tmp_path / "libnvrtc.so.13"), nvrtc)
    # by name alone the system's loader finds it, and nothing is taken from where one happens to stand
    load_companions("libnvrtc.so.13", nvrtc)

    assert loaded == [str(tmp_path / "libnvrtc-builtins.so.13.0")]
