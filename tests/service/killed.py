"""A server's life in short, killed at every so many lines of the service; then the next server must find all whole.

Each life is a process of its own: it does something with the folder, and at the given line it is gone as with kill -9.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from nsysan.service.queue import Claim
from nsysan.service.runs import State
from nsysan.service.sweeping import sweep
from tests.service.heart import ANNA, Heart, heart_in

KILLED = 99
SERVICE = f"{os.sep}nsysan{os.sep}service{os.sep}"
A, B = b"a" * 3000, b"b" * 5000


def live(root: Path) -> None:
    """Upload, analyse, publish, upload the same again, delete, discard, fail."""
    heart = heart_in(root)
    sweep(heart.ledger, heart.folder, heart.uploads)
    heart.queue.recover()
    first = heart.run(A, "first")
    claim = heart.queue.claim()
    assert claim is not None
    publish(heart, claim)
    heart.runs.delete(heart.run(A, "second"))
    third = heart.run(B, "third")
    heart.runs.cancel(third)
    heart.runs.retry(third)
    claim = heart.queue.claim()
    assert claim is not None
    publish(heart, claim)
    heart.runs.discard_captures(third.id)
    heart.runs.delete(first)
    heart.ledger.close()


def publish(heart: Heart, claim: Claim) -> None:
    """What a runner does with results."""
    from nsysan.service.folder import remove_tree
    from nsysan.service.work.order import PAGE

    work = heart.folder.work / claim.name
    (work / "result").mkdir(parents=True)
    (work / "result" / PAGE).write_text("page")
    (work / "result").rename(heart.folder.reports / claim.name)
    heart.queue.finish(claim, {"sentence": "s"})
    remove_tree(work)


def faults_of(root: Path) -> list[str]:
    """What is not whole after the next server has begun in the folder."""
    heart = heart_in(root)
    swept = sweep(heart.ledger, heart.folder, heart.uploads)
    heart.queue.recover()
    with heart.ledger.reading() as database:
        runs: list[Mapping[str, Any]] = list(database.query("select * from runs"))
        files = list(database.query("select * from files"))
        sound = database.execute("pragma integrity_check").fetchone()[0]
    done = {run["report"] for run in runs if run["state"] == State.DONE.value}
    needed = {file["sha256"] for file in files if file["is_kept"]}
    with heart.ledger.reading() as database:
        needed |= {row["sha256"] for row in database.query("select sha256 from uploads where sha256 is not null")}
    checks = {
        "the ledger is damaged": sound == "ok",
        "a capture is lost": swept.lost_captures == 0,
        "captures are not those needed": heart.captures() == needed,
        "reports are not those of done runs": {path.name for path in heart.folder.reports.iterdir()} == done,
        "a page is lost": all((heart.folder.reports / name / "page.html").is_file() for name in done),
        "work is left": not any(heart.folder.work.iterdir()),
        "a run is stuck": all(run["state"] != State.RUNNING.value for run in runs),
        "a run has no files": all(any(file["run"] == run["id"] for file in files) for run in runs),
        "nothing can be uploaded any more": bool(heart.run(A, person=ANNA)),
    }
    heart.ledger.close()
    return [fault for fault, is_fine in checks.items() if not is_fine]


def ends_at_line(number: int, act: Callable[[], None]) -> bool:
    """Whether a process that acts was killed at this line of the service, counted from its first."""
    child = os.fork()
    if child == 0:
        left = number

        def count(frame: FrameType, event: str, _argument: object) -> Any:
            nonlocal left
            if SERVICE not in frame.f_code.co_filename:
                return None
            if event == "line":
                left -= 1
                if left <= 0:
                    os._exit(KILLED)
            return count

        sys.settrace(count)
        act()
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == KILLED


def main(folder: Path, step: int) -> int:
    """The number of lines at which a life was cut, each of which left all whole; exits with what was not."""
    heart_in(folder / "warm").ledger.close()  # imports are done once
    number, cut_count = 1, 0
    while True:
        root = folder / str(number)
        was_killed = ends_at_line(number, lambda: live(root))  # noqa: B023 -- called at once
        if root.exists() and (faults := faults_of(root)):
            sys.exit(f"killed at line {number}: {', '.join(faults)}")
        if not was_killed:
            return cut_count
        number, cut_count = number + step, cut_count + 1


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), int(sys.argv[2])))  # noqa: T201 -- for the test that starts it
