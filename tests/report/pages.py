"""A page taken apart: what a reader or a browser would find in it."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "input", "br", "rect", "line", "circle", "path"}


class Page(HTMLParser):
    """Tags with their attributes, and the text of every element that has an id."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, str] = {}
        self.tables: dict[str, list[list[str]]] = {}
        self.raw: dict[str, str] = {}
        self._open: list[tuple[str, str | None]] = []
        self.feed(html)
        self.close()

    @property
    def ids(self) -> list[str]:
        """Every id, in order."""
        return [attributes["id"] for _, attributes in self.tags if "id" in attributes]

    @property
    def links(self) -> list[str]:
        """Where links lead."""
        return [attributes["href"] for tag, attributes in self.tags if tag == "a"]

    def meta(self, name: str) -> str:
        """The content of one meta element, by its name or what it stands for."""
        return next(
            attributes["content"]
            for tag, attributes in self.tags
            if tag == "meta" and name in (attributes.get("name"), attributes.get("http-equiv"))
        )

    def text(self, element_id: str) -> str:
        """The text of an element, white space collapsed and figures with ordinary spaces."""
        return squeezed(self.texts[element_id])

    def rows(self, table_id: str) -> list[list[str]]:
        """The cells of a table's rows, its head first."""
        return [[squeezed(cell) for cell in row] for row in self.tables[table_id]]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.tags.append((tag, attributes))
        if tag == "table":
            self.tables[attributes["id"]] = []
        elif tag == "tr":
            self._table().append([])
        elif tag in ("td", "th"):
            self._table()[-1].append("")
        if tag not in VOID:
            self._open.append((tag, attributes.get("id")))
            if "id" in attributes:
                self.texts[attributes["id"]] = ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop()[0] == tag, f"</{tag}> closes something else"

    def handle_data(self, data: str) -> None:
        inside = [tag for tag, _ in self._open]
        if inside and inside[-1] in ("style", "script", "title"):
            self.raw[inside[-1]] = self.raw.get(inside[-1], "") + data
            return
        for _, element_id in self._open:
            if element_id is not None:
                self.texts[element_id] += data
        if "td" in inside or "th" in inside:
            self._table()[-1][-1] += data

    def _table(self) -> list[list[str]]:
        return self.tables[next(reversed(self.tables))]


def squeezed(text: str) -> str:
    """``text`` with every run of white space as one space."""
    return re.sub(r"\s+", " ", text).strip()
