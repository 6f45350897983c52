"""What this nsysan can work with, as a text."""

from __future__ import annotations

from nsysan.model.contents import ExtraAtHand, Installation, NsysAtHand, ReaderAtHand
from nsysan.model.text import visible_text

_NONE = "none found"


def render_installation(installation: Installation) -> str:
    """A line for each thing that may be there or not."""
    facts = [
        ("nsysan", installation.nsysan_version),
        ("Python", f"{installation.python_version} on {installation.platform}"),
        ("Cores", str(installation.core_count)),
        *(("Reader", _reader(reader)) for reader in installation.readers),
        ("SQLite columns", _column_reader(installation)),
        *(("Extra", _extra(extra)) for extra in installation.extras),
        *(("nsys", _nsys(nsys)) for nsys in installation.nsys),
        *([] if installation.nsys else [("nsys", f"{_NONE}: SQLite exports can be read all the same")]),
        ("GPU", "nvidia-smi is there" if installation.has_nvidia_smi else f"{_NONE}; nsysan needs none"),
    ]
    return "".join(f"{name}: {visible_text(fact)}\n" for name, fact in facts)


def _reader(reader: ReaderAtHand) -> str:
    missing = ", ".join(reader.missing_modules)
    return f"{reader.id}, which lacks {missing}" if missing else reader.id


def _extra(extra: ExtraAtHand) -> str:
    packages = (f"{name} {version or 'is not installed'}" for name, version in extra.packages.items())
    return f"{extra.id}: {', '.join(packages)}"


def _column_reader(installation: Installation) -> str:
    return "compiled module" if installation.has_column_module else "sqlite3: the same results, slower"


def _nsys(nsys: NsysAtHand) -> str:
    return nsys.fault or f"{nsys.version} ({nsys.executable})"
