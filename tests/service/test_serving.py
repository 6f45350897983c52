"""A real server as its users meet it: upload, analysis, pages, failures, cancelling, deleting, stopping."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import io
import json
import re
import signal
import socket
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from nsysan.service.client import RefusedError, Sender
from nsysan.service.work.spawning import end_strays
from nsysan.synth.export import Export
from tests.ingest.nsys_stand_in import REPORT_HEAD, StandIn, copies, fails
from tests.ingest.training_lines import megatron
from tests.nsys import find_nsys
from tests.service.conftest import Start
from tests.service.running import BOUNDARY, START_S, Running, form_of

WRONG_ORDER = "Wrong event order has been detected when adding events to the collection"


def _tar_gz(entries: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as archive:
        for name, data in entries.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def test_a_run_goes_from_upload_to_report_and_away_again(server: Running, report: bytes, tmp_path: Path) -> None:
    other = Export().session(utc_epoch_ns=1).kernel(0, 500, "k").write(tmp_path / "x.sqlite").read_bytes()
    packed = _tar_gz({"job/rank1.sqlite": other, "job/notes.txt": b"n"})
    log = b"node1:17:42 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.1<0>\n"
    files = {"rank0.sqlite.gz": gzip.compress(report), "rest.tar.gz": packed, 'nccl "of" rank 0.log': log}

    made = server.upload(files, title="two ranks", project="p", labels="a, b")
    news = server.ask("GET", f"{made.said['path']}/events").text
    run = server.ended(made.said["id"])

    assert made.status == 201
    assert (run["state"], run["title"], run["project"], run["labels"]) == ("done", "two ranks", "p", ["a", "b"])
    told = [json.loads(line[6:]) for line in news.splitlines() if line.startswith('data: {"')]
    assert told[-1] == {"state": "done", "doing": ""}
    assert news.endswith("event: ended\ndata: {}\n\n")
    # kernels of 30 and 40 us in a window of 80, and one that is all of its own
    assert run["figures"]["compute_busy_frac"] == (0.875 + 1) / 2
    page, document = (server.ask("GET", f"{run['path']}/{name}") for name in ("report", "run.json"))
    assert "rank0.sqlite" in page.text
    assert [entry["name"] for entry in document.said["reports"]] == ["rank0.sqlite", "rank1.sqlite"]
    assert document.said["options"]["evidence"] == ['nccl "of" rank 0.log']
    assert not re.search(rf"report-[0-9a-f]{{24}}|{server.data}", document.text + page.text)
    assert "two ranks" in server.ask("GET", "/?q=RANKS+two&project=p&state=done").text
    assert "two ranks" not in server.ask("GET", "/?q=three").text

    assert "Delete “two ranks”?" in server.ask("GET", f"{run['path']}/delete").text
    assert server.ask("DELETE", f"/api/runs/{run['id']}").status == 204
    assert server.ask("GET", run["path"]).status == 404
    assert [path for kind in ("captures/*/*", "reports/*", "work/*") for path in server.data.glob(kind)] == []


def test_a_file_that_is_no_report_fails_with_the_analysers_sentence_and_can_be_tried_again(server: Running) -> None:
    made = server.upload({"notes.txt": b"nothing"}, title="<script>alert(1)</script>")
    run = server.ended(made.said["id"])

    assert run["state"] == "failed"
    assert run["failure"] == 'notes.txt is no Nsight Systems report or export but text; it begins with "nothing".'
    page = server.ask("GET", run["path"]).text
    assert "notes.txt is no Nsight Systems report" in page
    assert "<script>alert" not in page
    again = server.ask("POST", f"{run['path']}/retry", "")
    assert again.status == 303
    assert server.ask("DELETE", f"/api/runs/{run['id']}").status == 204


def test_a_dangerous_archive_fails_and_nothing_of_it_is_left(server: Running, report: bytes) -> None:
    before = set(server.data.rglob("*"))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("../../x.sqlite", report)

    run = server.ended(server.upload({"evil.zip": file.getvalue()}).said["id"])

    assert run["failure"] == "The archive's entry '../../x.sqlite' would lie outside of it."
    left = {path for path in set(server.data.rglob("*")) - before if path.is_file() and "ledger" not in path.name}
    assert left == set()
    assert server.ask("POST", f"{run['path']}/retry", "").status == 409


def test_hostile_names_are_shown_and_nothing_on_the_disk_has_them(server: Running) -> None:
    names = ["../../etc/cron.d/x", "C:\\\\x", "n" * 4000, ".", "\u202ex", 'r"; x="', "../../etc/cron.d/x"]
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    parts = [form_of({name: b"x"}, {})[0].removesuffix(f"--{BOUNDARY}--\r\n".encode()) for name in names]

    made = server.ask("POST", "/upload", b"".join(parts) + f"--{BOUNDARY}--\r\n".encode(), Content_Type=kind)

    shown = re.findall(r">([^<]*)</a> <span class=\"faint\">1 B", server.ask("GET", made.said["path"]).text)
    assert shown == ["x", "x", "n" * 200, "unnamed", "\\u202ex", "r&#34;; x=&#34;", "x"]
    paths = [str(path)[len(str(server.data)) :] for path in server.data.rglob("*")]
    assert all(re.fullmatch(r"[\w./-]*", path) for path in paths)
    assert not any("cron" in path or "nnnn" in path for path in paths)
    server.ask("DELETE", f"/api/runs/{made.said['id']}")


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b"no form", "multipart/form-data; boundary=x", 400),
        (b"no form", "text/plain", 415),
        (b"--x\r\nContent-Disposition: form-data; name=a\r\n\r\n" + b"a" * 140_000 + b"\r\n--x--\r\n", None, 413),
        (b"--x\r\n" + b"A: b\r\n" * 100 + b"\r\n\r\n--x--\r\n", None, 400),
        (b'--x\r\nContent-Disposition: form-data; name="f"; filename="r"\r\n\r\ncut', None, 400),
        (b"--x--\r\n", None, 400),
    ],
)
def test_a_damaged_form_is_refused_and_leaves_nothing(
    server: Running, body: bytes, kind: str | None, status: int
) -> None:
    answer = server.ask("POST", "/upload", body, Content_Type=kind or "multipart/form-data; boundary=x")

    assert answer.status == status
    assert answer.said["error"]
    assert list((server.data / "uploads").iterdir()) == []


def test_a_body_without_a_length_is_taken_as_it_comes(server: Running, report: bytes) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("PUT", "/upload/rank0.sqlite", iter([report[:1000], report[1000:]]), encode_chunked=True)
    answer = connection.getresponse()
    run = json.loads(answer.read())
    connection.close()

    assert answer.status == 201
    assert server.ask("DELETE", f"/api/runs/{run['id']}").status == 204


def test_an_upload_breaks_off_at_any_byte_and_goes_on_there(server: Running) -> None:
    data = bytes(range(256)) * 400
    upload = server.ask("POST", "/api/uploads", json.dumps({"name": "r.sqlite", "size_bytes": len(data)})).said
    offset = 0
    for break_count, sent in enumerate((1, 40_000, 70_001), start=1):
        head = (
            f"PATCH /api/uploads/{upload['id']} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpload-Offset: {offset}\r\n"
            f"Content-Length: {len(data) - offset}\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            connection.sendall(head.encode() + data[offset : offset + sent])
        offset = _offset_after_break(server, upload["id"], break_count)
    answer = server.ask("PATCH", f"/api/uploads/{upload['id']}", data[offset:], Upload_Offset=str(offset))

    assert 0 < offset < len(data)
    assert answer.said["offset_bytes"] == len(data)
    sha256 = hashlib.sha256(data).hexdigest()
    wrong = server.ask("POST", "/api/runs", json.dumps({"uploads": [{"id": upload["id"], "sha256": "0" * 64}]}))
    assert (wrong.status, wrong.said["error"]) == (422, "The file arrived changed: its SHA-256 differs.")
    server.ask("PATCH", f"/api/uploads/{upload['id']}", data, Upload_Offset="0")
    made = server.ask("POST", "/api/runs", json.dumps({"uploads": [{"id": upload["id"], "sha256": sha256}]}))
    assert f"SHA-256 {sha256[:16]}" in server.ask("GET", made.said["path"]).text
    server.ask("DELETE", f"/api/runs/{made.said['id']}")


def _offset_after_break(server: Running, upload_id: str, break_count: int) -> int:
    """How far the upload has come, once the server has noticed that so many connections are gone, as its log says."""
    patched = f'"method": "PATCH", "path": "/api/uploads/{upload_id}"'
    _wait_until(lambda: server.log.read_text().count(patched) >= break_count)
    return int(server.ask("GET", f"/api/uploads/{upload_id}").said["offset_bytes"])


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/api/uploads", "no json", 400),
        ("POST", "/api/uploads", "[]", 400),
        ("POST", "/api/uploads", '{"name": 1}', 400),
        ("POST", "/api/uploads", '{"name": "r", "size_bytes": -1}', 400),
        ("POST", "/api/uploads", '{"name": "r", "size_bytes": true}', 400),
        ("POST", "/api/uploads", '{"name": "r", "size_bytes": 99999999999999}', 413),
        ("POST", "/api/uploads", "[" * 60_000, 400),
        ("POST", "/api/uploads", "x" * 600_000, 413),
        ("POST", "/api/runs", '{"uploads": []}', 400),
        ("POST", "/api/runs", '{"uploads": ["nothing"]}', 404),
        ("POST", "/api/runs", '{"uploads": [7]}', 400),
        ("PATCH", "/api/uploads/nothing", "x", 404),
        ("GET", "/runs/nothing", None, 404),
        ("GET", "/runs/..%2f..%2fledger.sqlite/report", None, 404),
        ("GET", "/assets/..%2f..%2fledger.sqlite", None, 404),
        ("GET", "/s/nothing", None, 404),
        ("GET", "/nothing", None, 404),
        ("PUT", "/", "x", 405),
    ],
)
def test_a_wrong_request_gets_a_sentence(
    server: Running, method: str, path: str, body: str | None, status: int
) -> None:
    answer = server.ask(method, path, body)

    assert answer.status == status
    assert answer.said["error"].endswith(".")


def test_a_report_goes_through_the_servers_nsys_whose_failures_are_explained(
    start_server: Start, report: bytes, tmp_path: Path
) -> None:
    (tmp_path / "export.sqlite").write_bytes(report)
    good, bad = tmp_path / "good", tmp_path / "bad"
    for folder, action in ((good, copies(tmp_path / "export.sqlite")), (bad, fails(1, WRONG_ORDER))):
        folder.mkdir()
        StandIn(folder, action)
    upload = {"rank0.nsys-rep": REPORT_HEAD + bytes(3000)}

    server = start_server("--nsys", str(good / "nsys"))
    assert server.ended(server.upload(upload).said["id"])["state"] == "done"

    # M22: an event order that this nsys refuses
    server = start_server("--nsys", str(bad / "nsys"), name="other")
    run = server.ended(server.upload(upload).said["id"])
    assert run["failure"] == "rank0.nsys-rep holds events in an order that this nsys refuses."
    assert "Export it with a newer nsys, 2024.2 or later" in server.ask("GET", run["path"]).text


@pytest.mark.nsys
def test_a_report_of_a_newer_nsys_says_so(start_server: Start) -> None:
    server = start_server("--nsys", find_nsys())

    run = server.ended(server.upload({"r.nsys-rep": b"NVIDIA Tegra Profiler Report 2999@1@1@1-"}).said["id"])

    assert run["failure"].startswith("r.nsys-rep was recorded by nsys 2999.1.1.1, and the nsys at hand")


def test_where_there_is_no_nsys_the_hint_says_what_to_run_elsewhere(start_server: Start, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    server = start_server(PATH=str(tmp_path / "bin"))

    run = server.ended(server.upload({"rank0.nsys-rep": REPORT_HEAD, "a b.nsys-rep": b"x"}).said["id"])

    assert run["failure"].startswith("rank0.nsys-rep must be exported to be read, and there is no nsys")
    assert run["hint"].endswith("nsys export -t sqlite -o ./rank0.nsys-rep.sqlite ./rank0.nsys-rep")


def test_what_stops_or_kills_a_server_loses_nothing_and_leaves_no_process(start_server: Start, report: bytes) -> None:
    server = start_server("--discard-captures")
    run_id = server.upload({"rank0.sqlite": report}).said["id"]
    upload = server.ask("POST", "/api/uploads", '{"name": "r.sqlite", "size_bytes": 10}').said["id"]
    server.ask("PATCH", f"/api/uploads/{upload}", b"12345", Upload_Offset="0")
    for number, code in ((signal.SIGTERM, 0), (signal.SIGKILL, -9), (signal.SIGKILL, -9)):
        _wait_for_work(server)
        assert server.stop(number) == code
        server = start_server("--discard-captures")

    run = server.ended(run_id)

    assert run["state"] == "done"
    assert server.ask("GET", f"/api/uploads/{upload}").said["offset_bytes"] == 5
    assert end_strays(server.data / "work") == 0
    # what was analysed is gone, and the report stays
    assert server.ask("GET", f"{run['path']}/report").status == 200
    assert server.ask("GET", f"{run['path']}/files/0").status == 404
    assert [path for kind in ("captures/*/*", "work/*") for path in server.data.glob(kind)] == []


def _wait_for_work(server: Running) -> None:
    _wait_until(lambda: any((server.data / "work").iterdir()))


def _wait_until(is_so: Callable[[], bool]) -> None:
    until_s = time.monotonic() + START_S
    while not is_so():
        assert time.monotonic() < until_s, "what the test waits for does not come"
        time.sleep(0.01)


def test_two_servers_do_not_share_a_folder(start_server: Start) -> None:
    start_server()

    with pytest.raises(AssertionError, match="Another server works in"):
        start_server()


def test_it_does_not_go_beyond_this_machine_without_a_token(start_server: Start) -> None:
    with pytest.raises(AssertionError, match="there is no token with which to come in"):
        start_server("--host", "0.0.0.0")


def test_an_analysis_that_takes_too_much_says_what(start_server: Start, report: bytes) -> None:
    server = start_server("--memory-gib", "0.05")

    run = server.ended(server.upload({"rank0.sqlite": report}).said["id"])

    assert run["state"] == "failed"
    assert "memory" in run["failure"]


def test_a_run_is_cancelled_in_the_queue_and_at_work(start_server: Start, report: bytes) -> None:
    server = start_server("--workers", "1")
    at_work, waiting = (server.upload({"rank0.sqlite": report}).said["id"] for _ in range(2))
    _wait_for_work(server)

    answers = [server.ask("POST", f"/runs/{run_id}/cancel", "").status for run_id in (waiting, at_work)]

    assert answers == [303, 303]
    assert {server.ended(run_id)["state"] for run_id in (at_work, waiting)} == {"cancelled"}
    assert server.ask("POST", f"/runs/{at_work}/cancel", "").status == 409
    assert server.ask("POST", f"/runs/{at_work}/retry", "").status == 303


def test_a_run_whose_answer_was_lost_is_made_once(server: Running) -> None:
    upload = server.ask("POST", "/api/uploads", '{"name": "r.sqlite", "size_bytes": 1}').said["id"]
    server.ask("PATCH", f"/api/uploads/{upload}", b"x", Upload_Offset="0")
    request = json.dumps({"uploads": [upload], "key": "k1"})

    made = [server.ask("POST", "/api/runs", request).said["id"] for _ in range(2)]

    assert made[0] == made[1]


def test_a_key_makes_one_run_even_of_other_uploads(server: Running) -> None:
    made = []
    for content in (b"one", b"two"):
        upload = server.ask("POST", "/api/uploads", '{"name": "r.sqlite", "size_bytes": 3}').said["id"]
        server.ask("PATCH", f"/api/uploads/{upload}", content, Upload_Offset="0")
        made.append(server.ask("POST", "/api/runs", json.dumps({"uploads": [upload], "key": "k2"})).said["id"])

    assert made[0] == made[1]


def test_half_a_character_is_taken_and_shown_as_such(server: Running) -> None:
    half = r"\udc80"
    upload = server.ask("POST", "/api/uploads", f'{{"name": "{half}", "size_bytes": 1, "fingerprint": "{half}"}}').said
    server.ask("PATCH", f"/api/uploads/{upload['id']}", b"x", Upload_Offset="0")
    said = ", ".join(f'"{name}": "{half}"' for name in ("title", "project", "labels", "model", "ranks", "key"))
    run = server.ask("POST", "/api/runs", f'{{"uploads": ["{upload["id"]}"], {said}}}').said["id"]

    shown = server.ask("GET", f"/api/runs/{run}").said
    assert (upload["name"], shown["title"], shown["project"], shown["labels"]) == (half, half, half, [half])
    assert server.ask("POST", "/api/runs", f'{{"uploads": ["{half}"]}}').status == 404


def test_nsysan_upload_takes_a_refusal_at_its_word(server: Running, tmp_path: Path) -> None:
    (tmp_path / "r.sqlite").write_bytes(b"")
    sender = Sender(server.url, None)

    with pytest.raises(RefusedError, match=r"r\.sqlite is empty"):
        sender.make_run([sender.send(tmp_path / "r.sqlite")], {})
    with pytest.raises(RefusedError, match=r"Only tokens|The token is not known"):
        Sender(server.url, "wrong").send(tmp_path / "r.sqlite")


def test_an_archive_holds_reports_evidence_and_the_model_and_ranks_are_told_beside_it(
    server: Running, report: bytes
) -> None:
    model = {"num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 2, "vocab_size": 100}
    entries = {
        "run/b.sqlite": report,
        "run/train.log": "".join(megatron(step, "812.4") for step in range(1, 6)).encode(),
        "run/config.json": json.dumps(model).encode(),
        "run/README.md": b"# nothing",
    }

    made = server.upload({"all.tar.gz": _tar_gz(entries)}, model="sequence=32,global_batch=4", ranks="b.sqlite=1")
    run_id = made.said["id"]
    ended = server.ended(run_id)

    assert (ended["state"], ended["failure"]) == ("done", None)
    run = server.ask("GET", f"/runs/{run_id}/run.json").said
    assert [one["name"] for one in run["reports"]] == ["b.sqlite"]
    assert run["options"]["ranks"] == ["b.sqlite=1"]
    assert run["options"]["model"] is not None
    assert [one["name"] for one in run["training_logs"]] == ["train.log"]


def test_the_server_says_how_it_is(server: Running) -> None:
    assert server.ask("GET", "/health").said["status"] == "ok"
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    assert {"at", "level", "logger", "event"} <= set.intersection(*(set(line) for line in lines))
