"""Which page of the guide tells what to do about a finding: named as text, for a report leads nowhere outside."""

from __future__ import annotations


def guide_page(finding: str) -> str:
    """The path of the page in the project, by the id of the finding."""
    return f"docs/guide/{finding}.md"
