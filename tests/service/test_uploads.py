"""Uploads: pieces at their offsets, gone on with where they broke off, each content once, in limits, any name (M12)."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from nsysan.service.names import file_name
from nsysan.service.refusals import Conflict, NoRoom, NotThere, Refusal, TooMuch
from nsysan.service.runs import Described
from nsysan.service.uploads import Announced, Uploads
from tests.service.heart import ANNA, BERT, LIMITS, Heart, heart_in

CONTENT = bytes(range(256)) * 20


def test_pieces_become_a_file_under_its_hash_that_only_the_server_can_open(heart: Heart) -> None:
    upload = heart.uploads.announce(ANNA, Announced("rank0.sqlite", len(CONTENT)))

    reached = [heart.uploads.append(upload, 0, CONTENT[:1000]), heart.uploads.append(upload, 1000, CONTENT[1000:])]
    done = heart.uploads.complete(upload)

    assert reached == [1000, len(CONTENT)]
    assert done.sha256 == hashlib.sha256(CONTENT).hexdigest()
    assert heart.folder.capture(done.sha256).read_bytes() == CONTENT
    assert list(heart.folder.uploads.iterdir()) == []
    assert heart.folder.capture(done.sha256).stat().st_mode & 0o077 == 0


def test_an_upload_goes_on_in_another_process_where_it_broke_off(tmp_path: Path) -> None:
    before = heart_in(tmp_path)
    upload = before.uploads.announce(ANNA, Announced("rank0.sqlite", len(CONTENT), "fp"))
    before.uploads.append(upload, 0, CONTENT[:1234])
    before.ledger.close()

    after = heart_in(tmp_path)
    again = after.uploads.announce(ANNA, Announced("rank0.sqlite", len(CONTENT), "fp"))
    after.uploads.append(again, again.offset_bytes, CONTENT[1234:])
    done = after.uploads.complete(again, hashlib.sha256(CONTENT).hexdigest())
    after.ledger.close()

    assert (again.id, again.offset_bytes) == (upload.id, 1234)
    assert done.sha256 == hashlib.sha256(CONTENT).hexdigest()


def test_nobody_goes_on_with_what_another_began(heart: Heart) -> None:
    upload = heart.uploads.announce(ANNA, Announced("rank0.sqlite", 10, "fp"))

    assert heart.uploads.announce(BERT, Announced("rank0.sqlite", 10, "fp")).id != upload.id
    with pytest.raises(NotThere):
        heart.uploads.find(BERT, upload.id)
    with pytest.raises(NotThere):
        heart.uploads.find(replace(ANNA, team="blue"), upload.id)


def test_a_piece_at_another_offset_is_refused_and_changes_nothing(heart: Heart) -> None:
    upload = heart.uploads.announce(ANNA, Announced("rank0.sqlite", len(CONTENT)))
    heart.uploads.append(upload, 0, CONTENT[:100])

    for offset in (0, 99, 101):
        with pytest.raises(Conflict, match=f"has 100 bytes, not {offset}"):
            heart.uploads.append(upload, offset, b"x")

    assert heart.uploads.find(ANNA, upload.id).offset_bytes == 100


def test_an_upload_that_is_not_whole_empty_or_changed_on_the_way_is_no_file(heart: Heart) -> None:
    upload = heart.uploads.announce(ANNA, Announced("rank0.sqlite", 200))
    heart.uploads.append(upload, 0, CONTENT[:100])
    with pytest.raises(Conflict, match="Only 100 of 200 bytes"):
        heart.uploads.complete(upload)
    heart.uploads.append(upload, 100, CONTENT[:100])
    with pytest.raises(Refusal, match="arrived changed"):
        heart.uploads.complete(upload, "0" * 64)
    assert heart.uploads.find(ANNA, upload.id).offset_bytes == 0

    empty = heart.uploads.announce(ANNA, Announced("empty.sqlite", None))
    with pytest.raises(Refusal, match=r"empty\.sqlite is empty: the capture did not finish"):
        heart.uploads.complete(empty)
    assert heart.captures() == set()


def test_the_same_content_lies_there_once_until_nobody_needs_it(heart: Heart) -> None:
    first, second = heart.run(CONTENT), heart.run(CONTENT, person=BERT)
    unused = heart.upload(CONTENT)
    assert heart.captures() == {hashlib.sha256(CONTENT).hexdigest()}

    heart.runs.delete(first)
    heart.runs.delete(second)
    assert len(heart.captures()) == 1
    heart.uploads.forget((unused.id,))
    assert heart.captures() == set()


@pytest.mark.parametrize("size_bytes", [10_001, 1 << 62])
def test_a_file_that_is_too_large_is_refused_before_a_byte_has_come(heart: Heart, size_bytes: int) -> None:
    with pytest.raises(TooMuch, match="larger than this server takes"):
        heart.uploads.announce(ANNA, Announced("x.sqlite", size_bytes))

    assert list(heart.folder.uploads.iterdir()) == []


def test_more_than_was_announced_or_allowed_is_refused_as_it_comes(heart: Heart) -> None:
    known = heart.uploads.announce(ANNA, Announced("x.sqlite", 100))
    unknown = heart.uploads.announce(ANNA, Announced("y.sqlite", None))

    with pytest.raises(TooMuch, match="More comes than was announced"):
        heart.uploads.append(known, 0, CONTENT[:101])
    with pytest.raises(TooMuch, match="larger than this server takes"):
        heart.uploads.append(unknown, 0, bytes(10_001))


def test_a_run_of_too_many_or_too_large_files_is_refused(heart: Heart) -> None:
    one, two = heart.upload(bytes(8_000)), heart.upload(bytes(9_000))
    with pytest.raises(TooMuch, match="larger than a run may be"):
        heart.runs.create(ANNA, Described("t"), [one, two])
    with pytest.raises(TooMuch, match="so many files"):
        heart.runs.create(ANNA, Described("t"), [one] * 4)
    with pytest.raises(Refusal, match="at least one file"):
        heart.runs.create(ANNA, Described("t"), [])


def test_nobody_has_more_uploads_under_way_than_allowed(heart: Heart) -> None:
    for number in range(4):
        heart.uploads.announce(ANNA, Announced(f"{number}.sqlite", 10))

    with pytest.raises(TooMuch, match="Too many uploads") as caught:
        heart.uploads.announce(ANNA, Announced("5.sqlite", 10))
    assert caught.value.status == 429
    heart.uploads.announce(BERT, Announced("0.sqlite", 10))


def test_what_would_fill_the_disk_is_refused(heart: Heart) -> None:
    full = Uploads(heart.ledger, heart.folder, replace(LIMITS, free_bytes=1 << 62))

    with pytest.raises(NoRoom, match="disk is too full"):
        full.announce(ANNA, Announced("x.sqlite", 10))


def test_an_upload_is_used_once(heart: Heart) -> None:
    upload = heart.upload(CONTENT)
    heart.runs.create(ANNA, Described("t"), [upload])

    with pytest.raises(NotThere, match="was used already"):
        heart.runs.create(ANNA, Described("t"), [upload])


def test_an_upload_that_nobody_touches_expires(heart: Heart) -> None:
    upload = heart.uploads.announce(ANNA, Announced("x.sqlite", 10))
    long_ago = Uploads(heart.ledger, heart.folder, replace(LIMITS, kept_s=0.0))
    os.utime(heart.folder.uploads / upload.id, (0, 0))

    assert heart.uploads.expired() == ()
    assert long_ago.expired() == (upload.id,)


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("../../etc/cron.d/x", "x"),
        ("C:\\x", "x"),
        ("a\0b.sqlite", "a\\x00b.sqlite"),
        ("", "unnamed"),
        (".", "unnamed"),
        ("..", "unnamed"),
        ("x" * 4096, "x" * 200),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("<img src=x onerror=alert(1)>", "<img src=x onerror=alert(1)>"),
    ],
)
def test_a_name_is_text_to_show_and_never_a_path(heart: Heart, given: str, shown: str) -> None:
    assert file_name(given) == shown

    upload = heart.upload(CONTENT, given)

    assert upload.name == shown
    assert [path.parent.parent for path in heart.folder.root.rglob(upload.sha256 or "")] == [heart.folder.captures]


def test_two_people_with_files_of_one_name_have_two_files(heart: Heart) -> None:
    one, other = heart.upload(b"a", "report1.nsys-rep"), heart.upload(b"b", "report1.nsys-rep", BERT)

    assert one.sha256 != other.sha256
    assert len(heart.captures()) == 2
