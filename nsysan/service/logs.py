"""The log: one JSON object a line on standard error."""

from __future__ import annotations

import json
import logging
import sys
from datetime import datetime, timezone

_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName", "color_message"}
"""What every record has; all else was said about this one."""


class JsonLines(logging.Formatter):
    """Writes a record as a line of JSON: when, how grave, which event, and what was said about it."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        said = {key: value for key, value in vars(record).items() if key not in _OWN}
        line = {
            "at": datetime.fromtimestamp(record.created, timezone.utc).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **said,
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def begin_logging() -> None:
    """Have everything of this process that logs write to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(logging.INFO)
    logging.getLogger("asyncio").setLevel(logging.WARNING)
