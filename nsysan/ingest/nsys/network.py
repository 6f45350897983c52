"""What the counters of network adapters stand for, and which adapter has which id."""

from __future__ import annotations

from nsysan.ingest.nsys.open_export import OpenExport
from nsysan.ingest.nsys.tables import ADAPTER_IDS, ADAPTERS, NETWORK_METRICS
from nsysan.ingest.source import known_text
from nsysan.model.trace import NetworkMetric


def read_network_metrics(export: OpenExport) -> dict[tuple[int, int], NetworkMetric]:
    """Name and unit of each metric, by list and place in it."""
    found = {}
    for list_id, metric_id, name, unit in export.rows(NETWORK_METRICS, "metricsListId", "metricsIdx", "name", "unit"):
        if isinstance(list_id, int) and isinstance(metric_id, int):
            found[list_id, metric_id] = NetworkMetric(known_text(name) or "unnamed", known_text(unit) or "unknown unit")
    return found


def read_network_adapters(export: OpenExport) -> dict[int, str]:
    """The names of adapters, by the id in their samples."""
    names = {adapter_id: known_text(name) for adapter_id, name in export.rows(ADAPTERS, "nicId", "name")}
    ids = export.rows(ADAPTER_IDS, "globalId", "nicId")
    known = ((global_id, names.get(adapter_id)) for global_id, adapter_id in ids)
    return {global_id: name for global_id, name in known if isinstance(global_id, int) and name is not None}
