"""The rank that a capture's own records tell: the environment it kept, and MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.model.trace import RankSource
from nsysan.synth.export import Export
from tests.ingest.reading import read


@pytest.mark.parametrize(
    ("variables", "rank", "world_size"),
    [
        ({"RANK": "3", "WORLD_SIZE": "16", "SLURM_PROCID": "0", "SLURM_NTASKS": "2"}, 3, 16),
        ({"SLURM_PROCID": "5", "SLURM_NTASKS": "8"}, 5, 8),
        ({"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2"}, 1, 2),
        ({"PMI_RANK": "1"}, 1, None),
        ({"WORLD_SIZE": "16"}, None, None),
        ({"RANK": "16", "WORLD_SIZE": "16"}, None, 16),
        ({"RANK": "one", "MY_RANK": "2"}, None, None),
        ({"RANK": "99999999999"}, None, None),
    ],
)
def test_the_environment(tmp_path: Path, variables: dict[str, str], rank: int | None, world_size: int | None) -> None:
    export = Export().kernel(0, 9, "gemm")
    for name, value in variables.items():
        export.environment(name, value)

    trace = read(export.write(tmp_path / "a.sqlite"))

    assert (trace.rank, trace.world_size) == (rank, world_size)
    assert trace.rank_source is (None if rank is None else RankSource.ENVIRONMENT)


def test_no_other_variable_is_kept(tmp_path: Path) -> None:
    export = Export().kernel(0, 9, "gemm").environment("RANK", "1").environment("WANDB_API_KEY", "12345")

    assert "12345" not in repr(read(export.write(tmp_path / "a.sqlite")))


def test_mpi_tells_the_rank_of_each_process(tmp_path: Path) -> None:
    export = Export().kernel(0, 9, "gemm", pid=7).kernel(0, 9, "gemm", pid=8)
    export.mpi_rank(1, pid=7).mpi_rank(0, pid=8)

    trace = read(export.write(tmp_path / "a.sqlite"))

    assert trace.mpi_ranks == {1 << 48 | 7 << 24: 1, 1 << 48 | 8 << 24: 0}
