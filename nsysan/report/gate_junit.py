"""A gate's verdict as JUnit XML: a test a figure, which CI services list among the other tests."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from nsysan.history.gate import GateResult
from nsysan.history.judgement import Judgement, Outcome
from nsysan.model.text import display_text, visible_text
from nsysan.report.comparison.sentences import obstacle_sentence
from nsysan.report.gate_text import cells_of, failed_sentence, render_gate
from nsysan.report.prose import capitalized, ended

_SUITE = "nsysan.gate"
_TAGS = {Outcome.FAILED: "failure", Outcome.UNDECIDED: "error"}


def encode_junit(result: GateResult) -> bytes:
    """One suite, with a test a figure, or one that says why runs cannot be compared; what is undecided is an error."""
    suite = ET.Element("testsuite", name=f"{_SUITE} against {display_text(result.baseline)}")
    for obstacle in result.refusals:
        case = _case(suite, obstacle.id)
        ET.SubElement(case, "error", message=_sentence(obstacle_sentence(obstacle)))
    for judgement in () if result.refusals else result.judgements:
        _add(suite, judgement)
    suite.set("tests", str(len(suite)))
    for attribute, tag in (("failures", "failure"), ("errors", "error")):
        suite.set(attribute, str(len(suite.findall(f"testcase/{tag}"))))
    ET.SubElement(suite, "system-out").text = render_gate(result)
    ET.indent(suite)
    document: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
    return document + b"\n"


def _add(suite: ET.Element, judgement: Judgement) -> None:
    case = _case(suite, judgement.figure)
    tag = _TAGS.get(judgement.outcome)
    if tag is not None:
        told = ET.SubElement(case, tag, message=_sentence(judgement.why or failed_sentence(judgement)))
        told.text = visible_text(", ".join(cell for cell in cells_of(judgement) if cell))


def _case(suite: ET.Element, name: str) -> ET.Element:
    return ET.SubElement(suite, "testcase", classname=_SUITE, name=visible_text(name))


def _sentence(text: str) -> str:
    """A sentence of characters that XML has."""
    return visible_text(ended(capitalized(text)))
