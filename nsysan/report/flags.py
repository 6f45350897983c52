"""Options of commands in running text: a line of a page does not break inside them, and copied they are as typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from nsysan.model.text import visible_text
from nsysan.report.prose import unbroken

if TYPE_CHECKING:
    from markupsafe import Markup

_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*(?:=[\w-]+)?[.,;:)]*")


def prose(text: str) -> Markup:
    """Escaped text in which figures stay beside their units and each option, with the mark after it, on one line."""
    from markupsafe import Markup, escape

    escaped = str(escape(visible_text(unbroken(text))))
    return Markup(_FLAG.sub(r'<span class="flag">\g<0></span>', escaped))  # noqa: S704 - escaped, and our own tag
