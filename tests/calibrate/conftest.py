"""The fake libraries, for tests that ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec

import pytest

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
def fake(built_fake: Fake, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """The fake libraries, new, in place of NVIDIA's; nothing may be left of them in the end."""
    built_fake.reset()
    for name in VARIABLES:
        monkeypatch.setenv(name, built_fake.path)
    yield built_fake
    assert built_fake.faults == []
