"""What a reader must know about this run to trust its figures."""

from __future__ import annotations

from nsysan.model.run import Note, Run, warnings_first
from nsysan.model.units import counted
from nsysan.report.prose import ended
from nsysan.report.section import Section, View


class NotesView(View, frozen=True):
    """The notes of the run."""

    sentences: tuple[str, ...]


def _build(run: Run) -> NotesView | None:
    if not run.notes:
        return None
    sentences = tuple(_spoken(note) for note in warnings_first(run.notes))
    return NotesView(sentences, heading=f"{counted(len(sentences), 'thing')} to know before trusting the figures")


def _spoken(note: Note) -> str:
    sentence = ended(note.sentence)
    return f"Warning: {sentence}" if note.is_warning else sentence


SECTION = Section("notes", 70, "Notes", "About this run", _build)
