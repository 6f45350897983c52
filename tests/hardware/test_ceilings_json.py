"""``ceilings.json``: there and back, its schema, and what is refused."""

from __future__ import annotations

import json
import os
from pathlib import Path

import jsonschema
import pytest
from msgspec.structs import replace

from nsysan.hardware.ceilings_json import ceilings_schema, decode_ceilings, encode_ceilings, read_ceilings
from nsysan.hardware.simulated import simulate
from nsysan.model.ceilings import Ceilings, Conditions, Library, Spread, Topology, Waived
from nsysan.model.errors import InputError
from tests.hardware.ceilings import ceilings, curve, gemm, host_link, memory

SCHEMA = Path(__file__).parents[2] / "nsysan" / "hardware" / "ceilings.schema.json"


def everything() -> Ceilings:
    spread = Spread(3, 2.0, 1.0, 3.0, 1.0, 1.0, (1.0, 2.0, 3.0))
    hot = Conditions(1.2e9, 1.3e9, 2.6e9, 650.0, 71.0, ("sw_thermal_slowdown",))
    return ceilings(
        gemm=(replace(gemm(4096, 4096, 4096, 720), time_ns=spread, conditions=hot, warnings=("unstable",)),),
        memory=(memory(3000),),
        links=(host_link(1 << 20, 50),),
        collectives=(curve({8: 20.0, 1 << 30: 5000.0}),),
        waived=(Waived("nvfp4", "compute capability 9.0 has no fp4"),),
        libraries=(Library("NCCL", "2.28.9", "/lib/libnccl.so.2"),),
        environment={"NCCL_ALGO": "Ring"},
        topology=Topology((("X", "NV18"), ("NV18", "X")), "0a1b"),
    )


@pytest.mark.parametrize("original", [everything(), simulate("NVIDIA GB200", "2026-01-01T00:00:00Z")])
def test_there_and_back(original: Ceilings) -> None:
    data = encode_ceilings(original)
    assert decode_ceilings(data) == original
    jsonschema.validate(json.loads(data), ceilings_schema())


def test_the_schema_in_the_package_is_that_of_the_types() -> None:
    expected = json.dumps(ceilings_schema(), indent=1) + "\n"
    if os.environ.get("NSYSAN_UPDATE_GOLDEN"):
        SCHEMA.write_text(expected)
    assert SCHEMA.read_text() == expected


def changed(**values: object) -> bytes:
    return json.dumps({**json.loads(encode_ceilings(everything())), **values}).encode()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"{", "This is no ceilings.json"),
        (b"\xff", "This is no ceilings.json"),
        (b"[" * 100_000, "This is no ceilings.json"),
        (b"[]", "This JSON holds no ceilings of nsysan."),
        (b'{"schema_version": 1}', "This JSON holds no ceilings of nsysan."),
        (changed(schema_version=2), "This ceilings.json has schema version 2; this nsysan reads 1."),
        (changed(origin="guessed"), "does not fit its schema"),
        (changed(gpus=[]), "This ceilings.json names no GPU."),
        (changed(gpus=[{"name": "H100", "capability": None, "sm_count": -1}]), "does not fit its schema"),
        (changed(memory=[{"pattern": "copy", "size_bytes": 1, "bytes_per_s": 0}]), "does not fit its schema"),
        (changed(memory=[{"pattern": "copy", "size_bytes": 1, "bytes_per_s": 1e999}]), "ceilings.json"),
    ],
)
def test_what_is_refused(data: bytes, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        decode_ceilings(data)
    assert sentence in refusal.value.message
    assert refusal.value.hint == "Make one with: nsysan calibrate -o ceilings.json"


def test_what_hides_in_a_file_is_made_visible() -> None:
    assert decode_ceilings(changed(source="a\x1b[2Jb")).source == "a\\x1b[2Jb"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_ceilings(tmp_path / "none.json")
