"""Which of the files of a run the server takes for reports, and which for what tells more of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from nsysan.attribution.collectives.ranks import RankChoice
from nsysan.ingest.evidence.kind import SAMPLE_BYTES
from nsysan.model.errors import InputError, UsageError
from nsysan.service.unpacking.entry_names import Unpacked
from nsysan.service.work.evidence import ToldApart, told_apart
from nsysan.service.work.said import said_model, said_ranks
from nsysan.synth.export import Export
from tests.ingest.training_lines import megatron

MODEL = {"num_hidden_layers": 32, "hidden_size": 4096, "num_attention_heads": 32, "vocab_size": 128_256}


def _file(path: Path, data: bytes = b"", beside_in: str | None = None) -> Unpacked:
    path.write_bytes(data)
    return Unpacked(path, path.name, beside_in)


def _report(folder: Path) -> Unpacked:
    return Unpacked(Export().kernel(0, 9, "gemm").write(folder / "rank0.sqlite"), "rank0.sqlite")


def test_a_training_log_is_evidence_however_long_it_starts_up(tmp_path: Path) -> None:
    report, log = _report(tmp_path), "building the dataset\n" * (SAMPLE_BYTES // 10) + megatron(1, "812.4")
    files = [_file(tmp_path / "train.log", log.encode()), report, _file(tmp_path / "notes.txt", b"nothing")]
    folder = tmp_path / "folder"
    folder.mkdir()
    files += [Unpacked(folder, "folder"), _file(tmp_path / "empty.log")]

    # what is neither is taken for a report, which then says what it is
    reports = (report.path, tmp_path / "notes.txt", folder, tmp_path / "empty.log")
    assert told_apart(files) == ToldApart(reports, (tmp_path / "train.log",), ())


def test_a_model_is_known_by_what_it_describes_and_what_an_archive_held_besides_is_left(tmp_path: Path) -> None:
    report, model = _report(tmp_path), _file(tmp_path / "config.json", json.dumps(MODEL).encode(), "all.zip")
    log = _file(tmp_path / "train.log", megatron(1, "812.4").encode(), "all.zip")
    others = [
        _file(tmp_path / "generation_config.json", b'{"do_sample": true}', "all.zip"),
        _file(tmp_path / "README.md", b"# how it was made", "all.zip"),
    ]

    assert told_apart([report, model, *others, log]) == ToldApart((report.path,), (log.path,), (model,))


def test_a_file_that_describes_a_model_only_with_keys_beside_it_is_one_where_it_is_named(tmp_path: Path) -> None:
    report, part = _report(tmp_path), _file(tmp_path / "part.json", b'{"layers": 2, "hidden": 64, "heads": 2}')

    apart = told_apart([report, part], "part.json")

    assert apart == ToldApart((report.path,), (), (part,))
    found = said_model("part.json,vocabulary=100", [report, part], apart.models)
    assert found is not None
    assert found.vocabulary == 100


def test_archives_without_a_report_say_what_they_should_hold(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"The archive notes\.zip holds no report"):
        told_apart([_file(tmp_path / "notes.txt", b"n", "notes.zip")])


def test_the_model_is_the_file_that_is_named_else_the_one_that_describes_one(tmp_path: Path) -> None:
    models = [_file(tmp_path / name, json.dumps(MODEL | {"hidden_size": size}).encode()) for name, size in SIZES]
    keys = "sequence=4096,global_batch=256"

    found = said_model(keys, models[:1], models[:1])
    named = said_model(f"b.json,{keys}", models, models)

    assert (found and found.hidden, found and found.tokens_per_step) == (4096, 4096 * 256)
    assert (named and named.hidden, named and named.tokens_per_step) == (512, 4096 * 256)
    assert said_model("", [], []) is None


SIZES = (("a.json", 4096), ("b.json", 512))


@pytest.mark.parametrize(
    ("said", "count", "complaint"),
    [
        ("", 2, r"More than one file describes a model: a\.json, b\.json"),
        ("c.json", 2, r"There is not one file c\.json"),
        ("sequence=4096", 0, "no file describes one"),
        ("a.json,colour=red", 1, "is no key of a model"),
    ],
)
def test_a_model_that_cannot_be_is_refused(said: str, count: int, complaint: str, tmp_path: Path) -> None:
    models = [_file(tmp_path / name, json.dumps(MODEL).encode()) for name, _ in SIZES[:count]]

    with pytest.raises(InputError, match=complaint):
        said_model(said, models, models)


def test_ranks_are_told_by_the_names_that_people_gave(tmp_path: Path) -> None:
    files = [Unpacked(tmp_path / "report-00000-ab", "a.sqlite"), Unpacked(tmp_path / "report-00001-cd", "b.sqlite")]

    said = said_ranks({"ranks": "a.sqlite=1,b.sqlite=0,4711=2", "world_size": "8"}, files)

    assert said == RankChoice({"report-00000-ab": 1, "report-00001-cd": 0, "4711": 2}, 8)
    assert said_ranks({}, files) == RankChoice()
    with pytest.raises(UsageError, match=r"Several files are called a\.sqlite"):
        said_ranks({"ranks": "a.sqlite=0"}, [files[0], files[0]])
    with pytest.raises(UsageError, match="'many' is no number of ranks"):
        said_ranks({"world_size": "many"}, files)
