"""The driver of the machine, as nsys found it."""

from __future__ import annotations

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import SYSTEM_PROPERTIES
from nsysan.ingest.source import Value, known_text, text
from nsysan.model.software import Software, cuda_version
from nsysan.model.text import display_text

_UNKNOWN = "0"
"""What nsys writes where there is no driver."""
_MOST_DIGITS = 9


def read_software(export: OpenExport) -> Software:
    """The versions among the properties of the machine; nsys records none of the CUDA runtime."""
    properties = {text(name): value for name, value in export.rows(SYSTEM_PROPERTIES, "name", "value")}
    driver = known_text(properties.get("NvDriverVersion"))
    return Software(
        driver=None if driver in {None, _UNKNOWN} else display_text(driver),
        driver_cuda=_cuda_version(properties.get("CudaDriverVersion")),
    )


def _cuda_version(value: Value) -> str | None:
    digits = known_text(value) or ""
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
    return cuda_version(int(digits)) if is_number else None
