"""What a report holds, and what this nsysan can work with."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Iterable
from importlib.util import find_spec
from itertools import starmap
from pathlib import Path
from shutil import which

import msgspec
from msgspec.structs import replace

from nsysan import __version__
from nsysan.ingest import readers
from nsysan.ingest.nsys.installation import Version, every_nsys, shown_version
from nsysan.ingest.reader import Reader
from nsysan.ingest.reading import ReadOptions, survey_report
from nsysan.ingest.sqlite.page_columns import is_module_there
from nsysan.model.contents import Contents, ExtraAtHand, Installation, NsysAtHand, ReaderAtHand
from nsysan.model.errors import MissingToolError
from nsysan.model.registry import discover
from nsysan.model.text import display_text

_OF_EXTRA = re.compile(r"""(?P<package>[\w.-]+)[^;]*; extra == ["'](?P<extra>[\w-]+)["']""")
"""A requirement as the metadata of a package has it, for an extra and nothing else."""


class InfoOptions(msgspec.Struct, frozen=True):
    """With which nsys to export a ``.nsys-rep``, and whether to keep what names people, machines and paths.

    ``counts_all`` counts large exports too.
    """

    nsys: str | None = None
    keep_identity: bool = False
    counts_all: bool = False


def inspect_report(path: Path, options: InfoOptions) -> Contents:
    """What the report at ``path`` holds. Raises InputError or MissingToolError; writes nothing."""
    contents = survey_report(path, ReadOptions(nsys=options.nsys, counts_all=options.counts_all))
    return contents if options.keep_identity else _without_identity(contents)


def inspect_installation(nsys: str | None = None) -> Installation:
    """What this nsysan has at hand. Nothing but an nsys is started, and no driver is touched."""
    from importlib import metadata

    return Installation(
        nsysan_version=__version__,
        python_version=platform.python_version(),
        platform=platform.platform(),
        core_count=os.cpu_count() or 1,
        readers=tuple(_reader(reader) for reader in discover(readers, "READER", Reader)),
        has_column_module=is_module_there(),
        extras=extras_of(metadata.requires("nsysan") or []),
        nsys=tuple(starmap(_nsys, every_nsys(nsys))),
        has_nvidia_smi=which("nvidia-smi") is not None,
    )


def extras_of(requirements: Iterable[str]) -> tuple[ExtraAtHand, ...]:
    """Each extra with the versions of its packages here; what only some Pythons or systems need is left out."""
    packages: dict[str, dict[str, str | None]] = {}
    for requirement in requirements:
        if found := _OF_EXTRA.fullmatch(requirement):
            packages.setdefault(found["extra"], {})[found["package"]] = _version_of(found["package"])
    return tuple(ExtraAtHand(extra, packages[extra]) for extra in sorted(packages))


def _without_identity(contents: Contents) -> Contents:
    processes = contents.processes
    nameless = None if processes is None else tuple(replace(process, name=None) for process in processes)
    return replace(contents, hosts=None, identity=None, processes=nameless)


def _reader(reader: Reader) -> ReaderAtHand:
    return ReaderAtHand(reader.id, tuple(name for name in reader.needs_modules if find_spec(name) is None))


def _version_of(distribution: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _nsys(executable: str, answer: Version | MissingToolError) -> NsysAtHand:
    shown = display_text(executable)
    if isinstance(answer, MissingToolError):
        return NsysAtHand(shown, version=None, fault=answer.message)
    return NsysAtHand(shown, shown_version(answer), fault=None)
