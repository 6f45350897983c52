"""``ceilings.json``: ``Ceilings`` as JSON and back, and its JSON Schema."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from nsysan.model.ceilings import SCHEMA_VERSION, Ceilings
from nsysan.model.errors import InputError
from nsysan.model.text import visible_document, visible_text

SCHEMA_URI = "https://json-schema.org/draft/2020-12/schema"
SCHEMA_NAME = "nsysan.ceilings"
"""Told in the file itself, so that it is not taken for a ``run.json``."""
_HINT = "Make one with: nsysan calibrate -o ceilings.json"


def encode_ceilings(ceilings: Ceilings) -> bytes:
    """The ceilings as indented UTF-8 JSON, keys in a fixed order, ending in a newline."""
    document = {"schema": SCHEMA_NAME, **{name: getattr(ceilings, name) for name in _keys()}}
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def decode_ceilings(data: bytes) -> Ceilings:
    """The ceilings behind ``data``. Raises InputError where it is no file this nsysan can read, or names no GPU."""
    try:
        document = visible_document(msgspec.json.decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"This is no ceilings.json: {error}.", _HINT) from error
    _check_schema(document)
    try:
        ceilings = msgspec.convert(document, Ceilings)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError(f"This ceilings.json does not fit its schema: {error}.", _HINT) from error
    if not ceilings.gpus:
        raise InputError("This ceilings.json names no GPU.", _HINT)
    return ceilings


def read_ceilings(path: Path) -> Ceilings:
    """The ceilings in a file. Raises InputError where it cannot be read or is no ``ceilings.json``."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {visible_text(str(path))}: {error.strerror}.", _HINT) from error
    try:
        return decode_ceilings(data)
    except InputError as error:
        raise InputError(f"{visible_text(path.name)}: {error.message}", error.hint) from error


def ceilings_schema() -> dict[str, Any]:
    """The JSON Schema of ``ceilings.json``."""
    (reference,), definitions = msgspec.json.schema_components([Ceilings], ref_template="#/$defs/{name}")
    shape = definitions.pop(reference["$ref"].rpartition("/")[2])
    constants = {"schema": {"const": SCHEMA_NAME}, "schema_version": {"const": SCHEMA_VERSION}}
    return {
        "$schema": SCHEMA_URI,
        "title": "nsysan ceilings",
        "type": "object",
        "properties": {**shape["properties"], **constants},
        "required": ["schema", *shape["required"]],
        "$defs": definitions,
    }


def _keys() -> list[str]:
    return list(Ceilings.__struct_fields__)


def _check_schema(document: object) -> None:
    if not isinstance(document, dict) or document.get("schema") != SCHEMA_NAME:
        raise InputError("This JSON holds no ceilings of nsysan.", _HINT)
    if document.get("schema_version") != SCHEMA_VERSION:
        found = document.get("schema_version")
        raise InputError(f"This ceilings.json has schema version {found!r}; this nsysan reads {SCHEMA_VERSION}.", _HINT)
