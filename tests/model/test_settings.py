"""What of an environment is shown."""

from __future__ import annotations

import pytest

from nsysan.model.settings import shown_setting


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_ALGO", "Ring,Tree"),
        ("NCCL_ALGO", "^Tree"),
        ("NCCL_SOCKET_IFNAME", "=eth0"),
        ("CUDA_VISIBLE_DEVICES", "0,1"),
        ("CUDA_DEVICE_MAX_CONNECTIONS", "1"),
        ("CUBLAS_WORKSPACE_CONFIG", ":4096:8"),
        ("CUBLAS_WORKSPACE_CONFIG", ":4096:2:16:8"),
    ],
)
def test_what_sets_something_is_shown(name: str, value: str) -> None:
    assert shown_setting(name, value) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NCCL_HOSTID", "node17"),
        ("NCCL_COMM_ID", "node17"),
        ("NCCL_SOCKET_NTHREADS", "10.0.0.17:29500"),
        ("NCCL_SOCKET_IFNAME", "fe80::1"),
        ("NCCL_TOPO_FILE", "/home/anna/topology.xml"),
        ("CUDA_CACHE_PATH", "~anna"),
        ("CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"),
        ("CUDA_VISIBLE_DEVICES", "0,MIG-8932f937-d72c-4106-c12f-20bd9faed9f6"),
        ("NCCL_DEBUG", "a\nb"),
        ("NCCL_DEBUG", "a" * 65),
        ("NCCL_DEBUG", ""),
    ],
)
def test_what_may_name_a_machine_a_gpu_an_address_or_a_path_is_not(name: str, value: str) -> None:
    assert shown_setting(name, value) is None
