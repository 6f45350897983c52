"""How far a figure can be relied on that is told from what the trace suggests."""

from enum import Enum


class Confidence(str, Enum):
    """How sure it is."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
