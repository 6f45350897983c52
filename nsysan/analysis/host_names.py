"""What hosts are called in results: who ran where is nobody's business unless the user says so."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from nsysan.model.text import display_text


def host_names(hosts: Iterable[str], *, keep_identity: bool) -> Mapping[str, str]:
    """What to call each host: by its name where that is kept, else numbered from 1 in the order they come."""
    numbered = enumerate(dict.fromkeys(hosts), start=1)
    return {host: display_text(host) if keep_identity else f"host {number}" for number, host in numbered}
