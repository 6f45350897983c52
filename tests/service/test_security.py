"""What docs/security.md promises, of a real server: who comes in, what they see, what nobody can make them do."""

from __future__ import annotations

import json
import re
import socket
from contextlib import ExitStack
from urllib.parse import urlencode

import pytest

from nsysan.service.audit import Audit
from nsysan.service.folder import DataFolder
from nsysan.service.ledger import Ledger
from nsysan.service.people import Person, Role
from nsysan.service.rates import Rate
from nsysan.service.runs import Runs
from nsysan.service.settings import UploadLimits
from nsysan.service.sharing import Shares
from tests.service.conftest import DOCUMENT, PEOPLE, POLICY, Start, give_token
from tests.service.running import Answer, Running

Guarded = tuple[Running, dict[str, str]]
FORM = {"Content_Type": "application/x-www-form-urlencoded"}
OF_A_RUN = ["", "/report", "/run.json", "/files/0", "/events", "/delete"]
DEEDS = ["/delete", "/cancel", "/retry", "/shares", "/shares/x/revoke"]


@pytest.fixture(scope="module")
def run_id(guarded: Guarded) -> str:
    """The finished run of anna's."""
    server, tokens = guarded
    (run,) = server.ask("GET", "/api/runs", token=tokens["ada"]).said["runs"]
    return str(run["id"])


def _log_in(server: Running, token: str) -> tuple[str, str]:
    """The cookie of a session, and the token of its forms."""
    answer = server.ask("POST", "/login", urlencode({"token": token, "to": "/upload"}), **FORM)
    assert (answer.status, answer.headers["location"]) == (303, "/upload")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    pair = cookie.partition(";")[0]
    page = server.ask("GET", "/upload", Cookie=pair).text
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None
    return pair, found[1]


def _deed(server: Running, path: str, cookie: str, csrf: str | None, **headers: str) -> Answer:
    body = urlencode({"days": "1"} | ({} if csrf is None else {"csrf": csrf}))
    return server.ask("POST", path, body, **FORM, Cookie=cookie, **headers)


def test_nobody_comes_in_without_a_token(guarded: Guarded, run_id: str) -> None:
    server, _ = guarded
    paths = [
        "/",
        "/upload",
        "/audit",
        "/api/runs",
        *(f"/runs/{run_id}{end}" for end in OF_A_RUN),
        f"/api/runs/{run_id}",
    ]

    assert {server.ask("GET", path).status for path in paths} == {401}
    assert {server.ask("POST", f"/runs/{run_id}{deed}", "").status for deed in DEEDS} == {401}
    assert server.upload({"r.sqlite": b"x"}).status == 401
    page = server.ask("GET", f"/runs/{run_id}", Accept="text/html")
    assert (page.status, page.headers["location"]) == (303, f"/login?to=/runs/{run_id}")
    assert server.ask("GET", "/health").status == 200


@pytest.mark.parametrize("given", ["Bearer wrong", "Bearer ", "Basic YTpi", "nonsense", "Bearer nsysan_" + "x" * 5000])
def test_a_wrong_token_is_refused(guarded: Guarded, given: str) -> None:
    server, _ = guarded

    answer = server.ask("GET", "/api/runs", Authorization=given)

    assert answer.status in (401, 429)
    assert answer.said.keys() == {"error", "hint"}


def test_a_reader_reads_and_does_nothing_else(guarded: Guarded, run_id: str) -> None:
    server, tokens = guarded
    rita = tokens["rita"]

    assert server.ask("GET", f"/runs/{run_id}/report", token=rita).status == 200
    assert "anna&#39;s run" in server.ask("GET", "/", token=rita).text
    assert server.ask("GET", f"/runs/{run_id}/files/0", token=rita).status == 403
    assert "/files/0" not in server.ask("GET", f"/runs/{run_id}", token=rita).text
    assert {server.ask("POST", f"/runs/{run_id}{deed}", "", token=rita).status for deed in DEEDS} == {403}
    assert server.upload({"r.sqlite": b"x"}, token=rita).status == 403
    assert server.ask("DELETE", f"/api/runs/{run_id}", token=rita).status == 403
    assert server.ask("POST", "/api/uploads", '{"name": "r"}', token=rita).status == 403
    assert server.ask("PUT", "/upload/r", "x", token=rita).status == 403


def test_two_teams_do_not_see_each_other(guarded: Guarded, run_id: str) -> None:
    server, tokens = guarded
    bert = tokens["bert"]

    assert {server.ask("GET", f"/runs/{run_id}{end}", token=bert).status for end in OF_A_RUN} == {404}
    assert {server.ask("POST", f"/runs/{run_id}{deed}", "days=1", token=bert, **FORM).status for deed in DEEDS} == {404}
    assert server.ask("DELETE", f"/api/runs/{run_id}", token=bert).status == 404
    assert server.ask("GET", f"/api/runs/{run_id}", token=bert).status == 404
    assert server.ask("GET", "/api/runs", token=bert).said["total"] == 0
    assert server.ask("GET", "/?q=anna", token=bert).text.count("anna&#39;s run") == 0
    assert server.ask("GET", "/api/runs", token=tokens["ada"]).said["total"] == 1


def test_nobody_goes_on_with_the_upload_of_another(guarded: Guarded) -> None:
    server, tokens = guarded
    upload = server.ask("POST", "/api/uploads", '{"name": "r"}', token=tokens["anna"]).said["id"]
    path = f"/api/uploads/{upload}"

    for name in ("bert", "ada"):
        assert server.ask("GET", path, token=tokens[name]).status == 404
        assert server.ask("PATCH", path, "x", token=tokens[name], Upload_Offset="0").status == 404
        assert server.ask("DELETE", path, token=tokens[name]).status == 404
        assert server.ask("POST", "/api/runs", json.dumps({"uploads": [upload]}), token=tokens[name]).status == 404
    assert server.ask("DELETE", path, token=tokens["anna"]).status == 204


def test_the_hash_of_a_content_gives_nobody_that_content(guarded: Guarded) -> None:
    server, tokens = guarded

    answer = server.ask(
        "POST", "/api/uploads", '{"name": "r", "size_bytes": 6, "fingerprint": "6-abc"}', token=tokens["bert"]
    )

    assert answer.said["offset_bytes"] == 0


def test_another_site_cannot_make_a_browser_do_anything(guarded: Guarded, run_id: str) -> None:
    server, tokens = guarded
    cookie, csrf = _log_in(server, tokens["anna"])
    path = f"/runs/{run_id}/shares"

    assert _deed(server, path, cookie, None).status == 403
    assert _deed(server, path, cookie, "wrong").status == 403
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"}):
        assert _deed(server, path, cookie, csrf, **headers).status == 403
    other, _ = _log_in(server, tokens["anna"])
    assert _deed(server, path, other, csrf).status == 403
    assert server.upload({"r.sqlite": b"x"}, csrf="wrong").status == 401
    assert _deed(server, path, cookie, csrf, Origin=server.url, Sec_Fetch_Site="same-origin").status == 200


def test_a_log_in_leads_only_to_this_server(guarded: Guarded) -> None:
    server, tokens = guarded
    for to in ("//evil.example", "https://evil.example/", "/\\evil.example", "javascript:alert(1)", "/x\r\nA: b"):
        answer = server.ask("POST", "/login", urlencode({"token": tokens["anna"], "to": to}), **FORM)
        assert answer.headers["location"] == "/"


def test_logging_out_and_revoking_end_a_session_and_an_expired_token_begins_none(start_server: Start) -> None:
    from nsysan.service.access import Access

    server = start_server()
    token = give_token(server.data, PEOPLE["anna"])
    expired = give_token(server.data, Person("old", "red", Role.ADMIN), valid_s=-1)
    server.stop()
    server = start_server("--require-tokens")
    first, csrf = _log_in(server, token)
    second, _ = _log_in(server, token)

    assert server.ask("GET", "/", Cookie=first).status == 200
    assert _deed(server, "/logout", first, csrf).status == 303
    assert server.ask("GET", "/", Cookie=first).status == 401
    assert server.ask("GET", "/", Cookie=second).status == 200
    ledger = Ledger(DataFolder(server.data).ledger)
    Access(ledger).revoke_token("anna")
    ledger.close()
    assert server.ask("GET", "/", Cookie=second).status == 401
    assert {server.ask("GET", "/", token=each).status for each in (token, expired)} == {401}


def test_a_link_shows_one_report_until_it_is_revoked_or_expires(guarded: Guarded, run_id: str) -> None:
    server, tokens = guarded
    page = server.ask("POST", f"/runs/{run_id}/shares", "days=2", token=tokens["anna"], **FORM).text
    (secret,) = re.findall(r"/s/([\w-]{43})", page)

    shared = server.ask("GET", f"/s/{secret}")
    assert (shared.status, shared.text) == (200, DOCUMENT)
    assert server.ask("GET", f"/s/{secret[:-1]}x").status == 404
    assert {server.ask("GET", f"/runs/{run_id}{end}").status for end in OF_A_RUN} == {401}
    (share,) = re.findall(r"/shares/(\w+)/revoke", server.ask("GET", f"/runs/{run_id}", token=tokens["anna"]).text)[-1:]
    assert server.ask("POST", f"/runs/{run_id}/shares/{share}/revoke", "", token=tokens["anna"]).status == 303
    assert server.ask("GET", f"/s/{secret}").status == 404

    ledger = Ledger(DataFolder(server.data).ledger)
    run = Runs(ledger, DataFolder(server.data), UploadLimits()).find(PEOPLE["anna"], run_id)
    expired = Shares(ledger).create(PEOPLE["anna"], run, valid_s=-1)
    ledger.close()
    assert server.ask("GET", f"/s/{expired}").status == 404
    for days in ("0", "366", "-1", "x", ""):
        assert server.ask("POST", f"/runs/{run_id}/shares", f"days={days}", token=tokens["anna"], **FORM).status == 400
    assert secret not in server.log.read_text()


def test_a_report_lies_in_a_sandbox_under_its_own_policy(guarded: Guarded, run_id: str) -> None:
    server, tokens = guarded

    headers = server.ask("GET", f"/runs/{run_id}/report", token=tokens["rita"]).headers

    assert headers["referrer-policy"] == "no-referrer"
    assert headers["content-security-policy"] == f"{POLICY}; sandbox allow-scripts; frame-ancestors 'none'"


@pytest.mark.parametrize("path", ["/", "/login", "/health", "/nothing", "/s/x", "/upload", "/assets/x.css"])
def test_every_answer_has_the_headers_that_keep_browsers_safe(guarded: Guarded, path: str) -> None:
    server, _ = guarded

    headers = server.ask("GET", path, Origin="http://evil.example").headers

    assert "unsafe" not in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert [name for name in headers if name.startswith("access-control") or name == "server"] == []
    assert server.ask("OPTIONS", path, Origin="http://evil.example").status in (404, 405)


def test_a_capture_is_given_to_uploaders_as_bytes_to_keep(guarded: Guarded, run_id: str) -> None:
    server, tokens = guarded

    answer = server.ask("GET", f"/runs/{run_id}/files/0", token=tokens["anna"])

    assert answer.body == b"secret"
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["content-disposition"] == 'attachment; filename="rank0.sqlite"'


def test_what_was_done_is_kept_with_who_did_it(guarded: Guarded, run_id: str) -> None:
    server, tokens = guarded
    server.ask("GET", f"/runs/{run_id}/files/0", token=tokens["anna"])

    ledger = Ledger(DataFolder(server.data).ledger)
    ((latest,), _) = Audit(ledger).listed(PEOPLE["ada"], run_id, 0, 1)
    ledger.close()

    assert (latest.actor, latest.team, latest.address) == ("anna", "red", "127.0.0.1")
    assert (latest.action, latest.subject, latest.detail) == ("took capture", run_id, "rank0.sqlite")
    stored = b"".join(path.read_bytes() for path in server.data.glob("ledger.sqlite*"))
    assert not [name for name, token in tokens.items() if token.encode() in stored or token in server.log.read_text()]


def test_who_did_what_is_shown_to_whoever_may_change_things_and_each_team_its_own(
    guarded: Guarded, run_id: str
) -> None:
    server, tokens = guarded
    server.ask("GET", f"/runs/{run_id}/files/0", token=tokens["ada"])
    server.ask("GET", f"/runs/{run_id}/files/0", token=tokens["anna"])

    ada, anna, bert = (server.ask("GET", "/audit", token=tokens[name]).text for name in ("ada", "anna", "bert"))

    assert server.ask("GET", "/audit", token=tokens["rita"]).status == 403
    assert "ada <small>team ops</small>" in ada
    assert "127.0.0.1" in ada
    # what an admin did to a run of the team is the team's to know, but not from where
    assert "ada <small>team ops</small>" in anna
    assert "took capture" in anna
    assert "127.0.0.1" not in anna
    assert "took capture" not in bert
    assert "anna" not in bert
    of_run = server.ask("GET", f"/audit?run={run_id}", token=tokens["anna"]).text
    assert f'<a href="/runs/{run_id}">anna&#39;s run</a>' in of_run
    assert "on this run" in of_run
    assert server.ask("GET", f"/audit?run={run_id}", token=tokens["bert"]).text.count("<td>") == 0


def test_a_server_for_this_machine_answers_no_other_site_and_no_proxy(server: Running) -> None:
    assert server.ask("GET", "/", Host="evil.example").status == 421
    assert server.ask("GET", "/", Host="127.0.0.1.evil.example").status == 421
    assert server.ask("GET", "/", X_Forwarded_For="10.0.0.1").status == 403
    assert {server.ask("GET", "/", Host=host).status for host in ("localhost:1", "[::1]:1", "127.0.0.1")} == {200}
    for headers in ({"Origin": "http://evil.example"}, {"Sec_Fetch_Site": "cross-site"}, {"Origin": server.url}):
        # the last is this server's own page, but without the token of its forms
        assert server.ask("POST", "/api/uploads", '{"name": "r"}', **headers).status == 403
        kind = "multipart/form-data; boundary=x"
        form = b'--x\r\nContent-Disposition: form-data; name="f"; filename="r"\r\n\r\nx\r\n--x--\r\n'
        assert server.ask("POST", "/upload", form, Content_Type=kind, **headers).status == 403
    assert list((server.data / "uploads").iterdir()) == []


@pytest.mark.parametrize("accepted", ["text/html", "application/json"])
def test_a_host_or_origin_that_is_no_address_is_refused(server: Running, guarded: Guarded, accepted: str) -> None:
    for running in (server, guarded[0]):
        assert running.ask("GET", "/", Host="[::1", Accept=accepted).status == 400
    assert server.ask("POST", "/upload", "", Origin="http://[x", Accept=accepted).status == 403
    assert guarded[0].ask("POST", "/login", "to=//[&token=x").status == 401


def test_more_bodies_at_once_than_there_are_places_are_put_off(server: Running) -> None:
    places = UploadLimits().bodies_at_once
    head = "PUT /upload/r HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nx"
    with ExitStack() as stack:
        for _ in range(places):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port)))
            connection.sendall(head.encode())
        # those may still be on their way
        refused = next(
            answer for answer in iter(lambda: server.ask("PUT", "/upload/r", ""), None) if answer.status == 503
        )
        assert server.ask("GET", "/health").status == 200

    assert refused.headers["retry-after"] == "2"


def test_a_rate_lets_so_many_through_a_minute_and_each_client_alone() -> None:
    now_s = [0.0]
    rate = Rate(3, lambda: now_s[0])

    assert [rate.take("a") for _ in range(4)] == [True, True, True, False]
    assert rate.take("b")
    now_s[0] = 20.0
    assert [rate.take("a") for _ in range(2)] == [True, False]
