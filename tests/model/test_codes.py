"""A code is its number wherever it becomes text."""

from nsysan.model.codes import Code
from nsysan.model.host_events import NvtxEvent


def test_a_code_as_text_is_its_number() -> None:
    assert issubclass(NvtxEvent, Code)
    assert (str(NvtxEvent.START_END), f"{NvtxEvent.START_END}") == ("60", "60")
