"""The queue: first come first served, one worker a run, and of two who end a run one comes too late."""

from __future__ import annotations

from pathlib import Path

import pytest

from nsysan.service.queue import Claim
from nsysan.service.refusals import Conflict, NotThere
from nsysan.service.runs import Sought, State
from tests.service.heart import ANNA, BERT, Heart, heart_in

SUMMARY = {"sentence": "Idle time takes 40 % of the window"}


def _claimed(heart: Heart) -> Claim:
    claim = heart.queue.claim()
    assert claim is not None
    return claim


def _state(heart: Heart, run_id: str) -> State:
    return heart.runs.find(ANNA, run_id).state


def test_runs_are_taken_in_the_order_they_came_and_each_by_one(heart: Heart) -> None:
    runs = [heart.run(bytes([number])) for number in range(3)]

    assert [heart.queue.place(run.id) for run in runs] == [0, 1, 2]
    assert [heart.queue.claim() for _ in range(4)] == [*(Claim(run.id, 1) for run in runs), None]
    assert heart.queue.place(runs[0].id) is None


def test_a_run_is_done_with_its_summary_and_found_by_its_verdict(heart: Heart) -> None:
    run = heart.run(b"a")
    claim = _claimed(heart)

    assert heart.queue.finish(claim, SUMMARY)

    done = heart.runs.find(ANNA, run.id)
    assert (done.state, done.report, done.summary) == (State.DONE, f"{run.id}-1", SUMMARY)
    assert heart.runs.listed(ANNA, Sought("idle 40"), 0, 10) == ((done,), 1)


def test_who_ends_a_run_that_is_no_longer_theirs_comes_too_late(heart: Heart) -> None:
    run = heart.run(b"a")
    claim = _claimed(heart)

    heart.runs.cancel(run)

    assert not heart.queue.is_held(claim)
    assert not heart.queue.finish(claim, SUMMARY)
    assert not heart.queue.fail(claim, "f", "h")
    assert not heart.queue.put_back(claim)
    assert _state(heart, run.id) is State.CANCELLED
    with pytest.raises(Conflict):
        heart.runs.cancel(run)


def test_an_earlier_attempt_ends_nothing_once_there_is_another(heart: Heart) -> None:
    run = heart.run(b"a")
    first = _claimed(heart)
    heart.runs.cancel(run)
    heart.runs.retry(run)
    second = _claimed(heart)

    assert second == Claim(run.id, 2)
    assert not heart.queue.finish(first, SUMMARY)
    assert heart.queue.finish(second, SUMMARY)


def test_a_failed_run_keeps_its_sentence_until_it_is_tried_again(heart: Heart) -> None:
    run = heart.run(b"a")
    heart.queue.fail(_claimed(heart), "It is empty.", "Record it again.")

    failed = heart.runs.find(ANNA, run.id)
    assert (failed.state, failed.failure, failed.hint) == (State.FAILED, "It is empty.", "Record it again.")
    heart.runs.retry(run)
    again = heart.runs.find(ANNA, run.id)
    assert (again.state, again.failure, again.hint) == (State.QUEUED, None, None)


def test_a_run_without_its_files_cannot_be_tried_again(heart: Heart) -> None:
    run = heart.run(b"a")
    heart.queue.fail(_claimed(heart), "f", "h")
    heart.runs.discard_captures(run.id)

    assert heart.captures() == set()
    with pytest.raises(Conflict):
        heart.runs.retry(run)


def test_what_a_server_that_died_left_running_waits_again_behind_the_others(heart: Heart) -> None:
    first, second = heart.run(b"a"), heart.run(b"b")
    heart.queue.claim()

    assert heart.queue.recover() == 1

    assert [heart.queue.claim() for _ in range(2)] == [Claim(second.id, 1), Claim(first.id, 2)]


def test_a_run_under_which_the_server_dies_again_and_again_is_given_up(heart: Heart) -> None:
    run = heart.run(b"a")
    for _ in range(3):
        heart.queue.claim()
        heart.queue.recover()

    given_up = heart.runs.find(ANNA, run.id)
    assert (given_up.state, given_up.attempt) == (State.FAILED, 3)
    assert given_up.failure == "The server died 3 times during this analysis."


def test_a_server_that_stops_in_good_order_puts_runs_back_in_their_places(heart: Heart) -> None:
    first, second = heart.run(b"a"), heart.run(b"b")

    assert heart.queue.put_back(_claimed(heart))

    assert [heart.queue.claim() for _ in range(2)] == [Claim(first.id, 2), Claim(second.id, 1)]


def test_teams_do_not_see_each_other(heart: Heart) -> None:
    ours, theirs = heart.run(b"a"), heart.run(b"b", person=BERT)

    assert heart.runs.listed(ANNA, Sought(), 0, 10) == ((ours,), 1)
    assert heart.runs.listed(ANNA, Sought("run"), 0, 10) == ((ours,), 1)
    with pytest.raises(NotThere):
        heart.runs.find(ANNA, theirs.id)


@pytest.mark.parametrize("words", ["%", "_", "' or 1=1 --", "no such words", '"'])
def test_a_search_takes_every_character_as_it_is(heart: Heart, words: str) -> None:
    heart.run(b"a")

    assert heart.runs.listed(ANNA, Sought(words), 0, 10) == ((), 0)


def test_the_ledger_of_another_program_and_of_a_newer_nsysan_is_refused(tmp_path: Path) -> None:
    import sqlite3

    from nsysan.model.errors import InputError

    heart = heart_in(tmp_path)
    heart.ledger.close()
    for statement, complaint in (
        ("pragma user_version = 99", "newer nsysan"),
        ("pragma application_id = 7", "no ledger"),
    ):
        connection = sqlite3.connect(heart.folder.ledger)
        connection.execute(statement)
        connection.close()
        with pytest.raises(InputError, match=complaint):
            heart_in(tmp_path)
