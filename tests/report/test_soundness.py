"""What ``nsysan report`` refuses: a saved run that was changed so that no trace could have given it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nsysan.cli.main import main
from nsysan.model.packing import pack
from nsysan.model.run_json import decode_run, encode_run
from nsysan.report.soundness import flaw_of
from tests.report.runs import RESULT_TYPES, bare_run, empty_run, full_run, skipped_run

Document = dict[str, Any]


def lanes(document: Document) -> Any:
    return document["timeline"]["lanes"]


def packed(*numbers: int) -> str:
    return pack(np.array(numbers))


# a lane of gpu0 has 7 pieces, its stream 2 activities of 2 names, its thread 2 ranges
CHANGES: list[tuple[Callable[[Document], Any], str]] = [
    (lambda run: run["gpus"][0].update(compute_busy_frac=7.5), "gpus[0].compute_busy_frac is 7.5, which is no share"),
    (lambda run: run["job"]["time"]["idle"].update(worst_frac=-1e300), "job.time.idle.worst_frac is -1e+300, which is"),
    (
        lambda run: run["job"]["time"]["idle"].update(worst_gpu="gpu9"),
        "job.time.idle.worst_gpu names a GPU that gpus[]",
    ),
    (lambda run: run["gaps"][1].update(gpu="gpu9"), "gaps[1].gpu names a GPU that gpus[] does not have"),
    (lambda run: run["gpus"][1].update(id="gpu0"), "gpus[1].id is that of another one, too"),
    (lambda run: run["devices"][1].update(id=run["devices"][0]["id"]), "devices[1].id is that of another one, too"),
    (lambda run: run["devices"][0].update(report=10**30), "devices[0].report is no place in reports[]"),
    (lambda run: run["devices"][0].update(report=-1), "devices[0].report is no place in reports[]"),
    (lambda run: run["range_tree"][1].update(parent=10**30), "range_tree[1].parent is 1000000000000000000000000000000"),
    (lambda run: run["range_tree"][1].update(parent=1), "range_tree[1].parent is 1, which is no place before its own"),
    (lambda run: run["range_tree"][0].update(parent=-1), "range_tree[0].parent is -1, which is no place before its"),
    (lambda run: run["gaps"][1].update(start_ns=10**18), "gaps[1].start_ns is 1000000000000000000, which is no moment"),
    (lambda run: run["gaps"][1].update(end_ns=5), "gaps[1] ends before it begins"),
    (lambda run: run["kernels"][0].update(count=-1), "kernels[0].count is -1, which is below 0"),
    (lambda run: run["kernels"][0].update(total_ns=-1), "kernels[0].total_ns is -1, which is below 0"),
    (lambda run: run["steps"]["devices"][0].update(trend_frac=1e300), "steps.devices[0].trend_frac is 1e+300, which"),
    (lambda run: run["timeline"].update(end_ns=10**18), "timeline.end_ns is 1000000000000000000, which is no moment"),
    (lambda run: run["timeline"].update(end_ns=run["timeline"]["start_ns"]), "timeline cannot be drawn: it ends where"),
    (lambda run: run["timeline"].update(columns=["idle"]), "timeline cannot be drawn: its columns are not those"),
    (lambda run: run["timeline"].update(lanes=[]), "timeline cannot be drawn: its lanes are not each of a GPU"),
    (lambda run: run["timeline"].update(gpu_count=1), "timeline cannot be drawn: it has more lanes than GPUs"),
    (lambda run: run["timeline"].update(stretches=[]), "timeline cannot be drawn: its stretches hold no time"),
    (
        lambda run: run["timeline"].update(names=[]),
        "timeline cannot be drawn: an activity has a name that is not there",
    ),
    (lambda run: run["timeline"]["names"].pop(), "timeline cannot be drawn: a range has a name that is not there"),
    (lambda run: lanes(run)[0].update(id="gpu9"), "timeline cannot be drawn: its lanes are not each of a GPU"),
    (lambda run: lanes(run)[0].update(shift_ns=10**9), "timeline cannot be drawn: a lane reaches beyond the axis"),
    (
        lambda run: lanes(run)[0].update(exact=[[9, 3]]),
        "timeline cannot be drawn: an exact stretch of gpu0 ends before",
    ),
    (lambda run: lanes(run)[0]["lane"].update(piece_count=6), "timeline cannot be drawn: a lane has not as many"),
    (lambda run: lanes(run)[0]["lane"].update(gpu_count=9), "timeline cannot be drawn: a lane has not as many"),
    (lambda run: lanes(run)[0]["lane"].update(pieces="no base64!"), "timeline cannot be drawn: "),
    (lambda run: lanes(run)[0]["lane"].update(pieces=packed(0, 1)), "timeline cannot be drawn: a piece holds nothing"),
    (lambda run: lanes(run)[0]["lane"].update(pieces=packed(5, 0)), "timeline cannot be drawn: a piece holds nothing"),
    (
        lambda run: lanes(run)[0]["lane"].update(pieces=packed(5, 3, 6)),
        "timeline cannot be drawn: the shares of a piece",
    ),
    (lambda run: lanes(run)[0]["streams"][0].update(activity_count=3), "timeline cannot be drawn: a stream has not as"),
    (lambda run: lanes(run)[0]["threads"][0].update(ranges=""), "timeline cannot be drawn: a thread has not as many"),
]


@pytest.mark.parametrize("make_run", [full_run, skipped_run, empty_run, bare_run])
def test_a_run_as_it_was_written_is_sound(make_run: Callable[[], Any]) -> None:
    assert flaw_of(decode_run(encode_run(make_run()), RESULT_TYPES)) is None


@pytest.mark.parametrize(("change", "sentence"), CHANGES)
def test_what_no_run_can_hold_is_named(change: Callable[[Document], Any], sentence: str) -> None:
    document = json.loads(encode_run(full_run()))
    change(document)

    flaw = flaw_of(decode_run(json.dumps(document).encode(), RESULT_TYPES))

    assert flaw is not None
    assert flaw.startswith(sentence)


def test_the_command_refuses_it_in_one_sentence_and_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(encode_run(full_run()))
    document["timeline"]["names"] = []
    Path("run.json").write_text(json.dumps(document))

    assert main(["report", "run.json"]) == 2
    assert capsys.readouterr().err == (
        "nsysan: run.json holds what no run can: timeline cannot be drawn: an activity has a name that is not there.\n"
        "  Make it with: nsysan analyze REPORT --json run.json\n"
    )
    assert not list(tmp_path.glob("*.html"))
