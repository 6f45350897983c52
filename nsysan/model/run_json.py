"""``run.json``: a Run as JSON and back, and the JSON Schema of both.

The keys are the envelope's fields, then the fields of every result. Which result types there are is handed in
by the caller, so that a new analysis needs no change here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from nsysan.model.errors import InputError
from nsysan.model.findings import Diagnosis, Finding
from nsysan.model.results import Result, ResultSet, Skipped
from nsysan.model.run import SCHEMA_VERSION, Note, OptionValue, Provenance, ReportInfo, Run
from nsysan.model.text import visible_document

SCHEMA_URI = "https://json-schema.org/draft/2020-12/schema"
_HINT = "Make it again with: nsysan analyze REPORT --json run.json"


class _Envelope(msgspec.Struct, frozen=True):
    """The keys of ``run.json`` that are there whatever was computed."""

    schema_version: int
    nsysan_version: str
    created_utc: str
    options: dict[str, OptionValue]
    provenance: Provenance
    reports: tuple[ReportInfo, ...]
    notes: tuple[Note, ...]
    diagnosis: Diagnosis
    findings: tuple[Finding, ...]
    skipped: tuple[Skipped, ...]


_SHARED_FIELDS = tuple(name for name in _Envelope.__struct_fields__ if name != "skipped")


def encode_run(run: Run) -> bytes:
    """The run as indented UTF-8 JSON, keys in a fixed order, ending in a newline."""
    envelope = {name: getattr(run, name) for name in _SHARED_FIELDS}
    results: dict[str, object] = {}
    for result in run.results.found():
        results |= {name: getattr(result, name) for name in _result_keys(type(result))}
    document = {**envelope, **results, "skipped": run.results.skipped()}
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def decode_run(data: bytes, result_types: Iterable[type[Result]]) -> Run:
    """The run behind ``data``. Raises InputError where it is no ``run.json`` this nsysan can read."""
    try:
        document = visible_document(msgspec.json.decode(data))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"This is no run.json: {error}.", _HINT) from error
    _check_version(document)
    try:
        envelope = msgspec.convert(document, _Envelope)
        results = _decode_results(document, result_types, envelope.skipped)
    except (msgspec.ValidationError, RecursionError) as error:
        raise InputError(f"This run.json does not fit its schema: {error}.", _HINT) from error
    return Run(**{name: getattr(envelope, name) for name in _SHARED_FIELDS}, results=results)


def run_schema(result_types: Iterable[type[Result]]) -> dict[str, Any]:
    """The JSON Schema of ``run.json``; the keys of a result are optional, for each may be skipped."""
    types = [_Envelope, *result_types]
    references, definitions = msgspec.json.schema_components(types, ref_template="#/$defs/{name}")
    shapes = [definitions.pop(reference["$ref"].rpartition("/")[2]) for reference in references]
    properties = {key: value for shape in shapes for key, value in shape["properties"].items()}
    return {
        "$schema": SCHEMA_URI,
        "title": "nsysan run",
        "type": "object",
        "properties": {**properties, "schema_version": {"const": SCHEMA_VERSION}},
        "required": shapes[0]["required"],
        "$defs": definitions,
    }


def _check_version(document: object) -> None:
    if not isinstance(document, dict) or "schema_version" not in document:
        raise InputError("This JSON holds no nsysan run: it has no schema_version.", _HINT)
    if document["schema_version"] != SCHEMA_VERSION:
        raise InputError(
            f"This run.json has schema version {document['schema_version']!r}; this nsysan reads {SCHEMA_VERSION}.",
            _HINT,
        )


def _decode_results(
    document: Mapping[str, object], result_types: Iterable[type[Result]], skipped: tuple[Skipped, ...]
) -> ResultSet:
    results: dict[str, Result | Skipped] = {
        result_type.id: msgspec.convert(document, result_type)
        for result_type in result_types
        if set(_result_keys(result_type)) <= document.keys()
    }
    return ResultSet(results | {entry.id: entry for entry in skipped})


def _result_keys(result_type: type[Result]) -> tuple[str, ...]:
    return result_type.__struct_fields__
