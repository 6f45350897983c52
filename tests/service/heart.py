"""The parts of a server that keep things, around one folder, as it has them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nsysan.service.folder import DataFolder
from nsysan.service.ledger import Ledger
from nsysan.service.people import Person, Role
from nsysan.service.queue import Queue
from nsysan.service.runs import Described, Runs, ServedRun
from nsysan.service.settings import UploadLimits
from nsysan.service.uploads import Announced, Upload, Uploads

ANNA = Person("anna", "red", Role.UPLOADER)
BERT = Person("bert", "blue", Role.UPLOADER)
LIMITS = UploadLimits(file_bytes=10_000, run_bytes=15_000, files_of_run=3, open_uploads=4, free_bytes=0, resting_s=0.0)


@dataclass
class Heart:
    """What keeps things."""

    folder: DataFolder
    ledger: Ledger
    uploads: Uploads
    runs: Runs
    queue: Queue

    def upload(self, data: bytes, name: str = "rank0.sqlite", person: Person = ANNA) -> Upload:
        """A complete upload of this content."""
        upload = self.uploads.announce(person, Announced(name, len(data)))
        self.uploads.append(upload, 0, data)
        return self.uploads.complete(upload)

    def run(self, data: bytes, title: str = "a run", person: Person = ANNA) -> ServedRun:
        """A run of one file of this content, which waits."""
        return self.runs.create(person, Described(title), [self.upload(data, person=person)])

    def captures(self) -> set[str]:
        """The hashes of the contents that are kept."""
        return {path.name for path in self.folder.captures.glob("*/*")}


def heart_in(root: Path, limits: UploadLimits = LIMITS) -> Heart:
    """Everything around this folder, which is made if need be."""
    folder = DataFolder(root)
    folder.make()
    ledger = Ledger(folder.ledger)
    return Heart(
        folder,
        ledger,
        Uploads(ledger, folder, limits),
        Runs(ledger, folder, limits),
        Queue(ledger, interruption_limit=3),
    )
