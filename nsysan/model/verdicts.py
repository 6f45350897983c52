"""The words a verdict is made of, by the names ``run.json`` uses."""

from enum import Enum


class BottleneckClass(str, Enum):
    """The five classes every throughput problem falls into, in the order of the walk."""

    COMPUTE = "compute"
    COMMUNICATION = "communication"
    DATA = "data"
    MEMORY = "memory"
    SCHEDULING = "scheduling"


class Severity(str, Enum):
    """How much a finding matters; ordered by ``rank``."""

    INFO = "info"
    WARNING = "warning"
    CRITICAL = "critical"

    @property
    def rank(self) -> int:
        """0 for info, 1 for warning, 2 for critical."""
        return list(Severity).index(self)


class ClassState(str, Enum):
    """What the trace says about one class."""

    OK = "ok"
    PROBLEM = "problem"
    UNKNOWN = "unknown"
