"""Files as they were uploaded become files to read: archives are unpacked, all else is handed on as it is."""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec.structs import replace

from nsysan.ingest.nsys.report import MAGIC as NSYS_REPORT
from nsysan.ingest.sqlite.header import MAGIC as SQLITE
from nsysan.model.errors import InputError
from nsysan.model.text import display_text, natural_order
from nsysan.service.settings import UnpackingLimits
from nsysan.service.unpacking.budget import PACK_AGAIN, Budget, Counted, copy
from nsysan.service.unpacking.entry_names import Places, Unpacked, random_name
from nsysan.service.unpacking.tar_archive import GZIP_MAGIC, HEAD_BYTES, is_tar, unpack_tar
from nsysan.service.unpacking.zip_archive import MAGIC as ZIP_MAGIC
from nsysan.service.unpacking.zip_archive import unpack_zip


class Given(msgspec.Struct, frozen=True):
    """A file as it was uploaded, and what people call it."""

    path: Path
    name: str


def unpack(given: Sequence[Given], folder: Path, limits: UnpackingLimits) -> list[Unpacked]:
    """The files, those of archives put down in the folder, the others linked there.

    Our names sort as people's do: where nothing else tells the ranks, they are counted in that order. Raises InputError
    where an archive is damaged; DangerousArchiveError where it would lie outside of the folder, or is larger than the
    limits that hold for all of them together.
    """
    budget, found = Budget(limits), []
    for number, file in enumerate(given):
        place = folder / f"{number:05d}"
        place.mkdir(mode=0o700)
        with _named(file.name):
            found += _files(file, place, budget)
    return _sorted_names(found)


def _files(file: Given, place: Path, budget: Budget) -> list[Unpacked]:
    with file.path.open("rb") as opened:
        head = opened.read(HEAD_BYTES)
    inner = _unpacked_head(file.path) if head.startswith(GZIP_MAGIC) else head
    places = Places(place, file.name)
    if head.startswith(ZIP_MAGIC):
        unpack_zip(file.path, places, budget)
    elif is_tar(inner):
        unpack_tar(file.path, places, budget)
    elif head.startswith(GZIP_MAGIC) and inner.startswith((SQLITE, NSYS_REPORT)):
        return [_unpack_gzip(file, place, budget)]
    else:
        return [_linked(file, place)]
    return places.found


def _sorted_names(found: Sequence[Unpacked]) -> list[Unpacked]:
    """The same files in the same order, under names of ours that sort as those that people gave them."""
    order = sorted(range(len(found)), key=lambda number: natural_order(found[number].name))
    places = {number: place for place, number in enumerate(order)}
    return [
        replace(file, path=file.path.rename(file.path.with_name(random_name(places[number]))))
        for number, file in enumerate(found)
    ]


def _unpack_gzip(file: Given, place: Path, budget: Budget) -> Unpacked:
    target = place / random_name()
    with gzip.open(file.path) as source, target.open("xb") as opened:
        copy(Counted(source, budget), opened)
    return Unpacked(target, file.name[:-3] if file.name.lower().endswith(".gz") else file.name)


def _linked(file: Given, place: Path) -> Unpacked:
    """The file under a name of ours; what it is, its content says."""
    link = place / random_name()
    link.hardlink_to(file.path)
    return Unpacked(link, file.name)


def _unpacked_head(path: Path) -> bytes:
    with gzip.open(path) as file:
        return file.read(HEAD_BYTES)


@contextmanager
def _named(name: str) -> Iterator[None]:
    """Turn what the libraries have against an archive into an InputError that names it."""
    shown = display_text(name)
    try:
        yield
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, gzip.BadGzipFile) as error:
        raise InputError(f"The archive {shown} is damaged.", "Transfer it again, or pack it anew.") from error
    except (NotImplementedError, RuntimeError) as error:
        raise InputError(f"The archive {shown} is packed in a way that is not read here.", PACK_AGAIN) from error
