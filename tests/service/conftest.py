"""What the tests of the service share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from nsysan.service.access import Access
from nsysan.service.folder import DataFolder
from nsysan.service.ledger import Ledger
from nsysan.service.people import Person, Role
from nsysan.service.work.order import PAGE, RUN_JSON
from nsysan.synth.export import Export
from tests.service.heart import Heart, heart_in
from tests.service.running import Running, serving, start

Start = Callable[..., Running]
GEMM = "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_bias_TNN"
PEOPLE = {
    "anna": Person("anna", "red", Role.UPLOADER),
    "rita": Person("rita", "red", Role.READER),
    "bert": Person("bert", "blue", Role.UPLOADER),
    "ada": Person("ada", "ops", Role.ADMIN),
}


POLICY = "default-src 'none'; style-src 'sha256-a'; script-src 'sha256-b'; base-uri 'none'; form-action 'none'"
DOCUMENT = f"""<!doctype html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY.replace("'", "&#39;")}"><title>t</title></head></html>"""


@pytest.fixture
def heart(tmp_path: Path) -> Iterator[Heart]:
    """What keeps things, around a folder of its own."""
    made = heart_in(tmp_path / "data")
    yield made
    made.ledger.close()


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Start]:
    """Starts servers around folders in the test's own, and ends them with it."""
    running = []

    def start_one(*arguments: str, name: str = "data", token: str | None = None, **variables: str) -> Running:
        running.append(start(tmp_path / name, "--free-gib", "0", *arguments, token=token, **variables))
        return running[-1]

    yield start_one
    for server in running:
        server.end()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A server for this machine alone, which the tests of a module share."""
    with serving(tmp_path_factory.mktemp("server") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, dict[str, str]]]:
    """A server that demands tokens, the tokens of four people in three teams, and a finished run of anna's."""
    data = tmp_path_factory.mktemp("guarded") / "data"
    tokens = {name: give_token(data, person) for name, person in PEOPLE.items()}
    finish_a_run(data, DOCUMENT)
    with serving(data, "--require-tokens") as running:
        yield running, tokens


def finish_a_run(data: Path, page: str, summary: dict[str, Any] | None = None) -> str:
    """The id of a finished run of anna's with this page, put where a server that runs later finds it."""
    made = heart_in(data)
    run = made.run(b"secret", "anna's run", PEOPLE["anna"])
    claim = made.queue.claim()
    assert claim is not None
    report = made.folder.reports / claim.name
    report.mkdir()
    (report / PAGE).write_text(page)
    (report / RUN_JSON).write_text("{}")
    made.queue.finish(claim, summary or {"sentence": "It is fine"})
    made.ledger.close()
    return run.id


def give_token(data: Path, person: Person, valid_s: float | None = None) -> str:
    """A token for this person at the server around this folder."""
    folder = DataFolder(data)
    folder.make()
    ledger = Ledger(folder.ledger)
    try:
        return Access(ledger).add_token(person, valid_s)
    finally:
        ledger.close()


@pytest.fixture(scope="session")
def report(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small report: two kernels, and a secret in the environment."""
    export = Export().session(utc_epoch_ns=1_779_630_014_975_716_426).host("node1")
    export.environment("WANDB_API_KEY", "sk-secret").nvtx(0, 60_000, "loop")
    export.kernel(10_000, 40_000, GEMM).kernel(50_000, 90_000, "my_kernel")
    return export.write(tmp_path_factory.mktemp("report") / "rank0.sqlite").read_bytes()
