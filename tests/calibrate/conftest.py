"""The fake libraries, for tests that ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from nsysan.calibrate.bench import KERNELS
from tests.calibrate.fakes import COMPILER, VARIABLES, Fake, build


@pytest.fixture(scope="session")
def built_fake(tmp_path_factory: pytest.TempPathFactory) -> Fake:
    """The fake libraries; skips where the module was not built or nothing can build them."""
    if find_spec("nsysan.calibrate._native") is None:
        pytest.skip("the compiled module is not here")
    if COMPILER is None:
        pytest.skip("g++ is not here, which builds the fake libraries")
    return Fake(build(tmp_path_factory.mktemp("fake")))


@pytest.fixture
def fake(built_fake: Fake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """The fake libraries, new, in place of NVIDIA's; nothing may be left of them in the end.

    Kernels are there as source alone, whether or not nvcc compiled them when nsysan was built.
    """
    built_fake.reset()
    source = tmp_path / "kernels" / "kernels.cu"
    source.parent.mkdir()
    source.write_bytes(KERNELS.joinpath("kernels.cu").read_bytes())
    monkeypatch.setattr("nsysan.calibrate.bench.KERNELS", source.parent)
    for name in VARIABLES:
        monkeypatch.setenv(name, built_fake.path)
    yield built_fake
    assert built_fake.faults == []
