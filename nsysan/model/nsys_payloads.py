"""What an export of a report as JSON tells of NCCL's calls, which its other exports may leave out."""

from __future__ import annotations

from nsysan.model.evidence import EvidenceItem
from nsysan.model.tables import NcclPayloads


class ExportedPayloads(EvidenceItem, frozen=True):
    """The payloads in one export, with the times and threads that the report's other exports have."""

    payloads: NcclPayloads
