"""Why a request is not served: a sentence, the next thing to try, and the status HTTP has for it."""

from __future__ import annotations

from nsysan.model.errors import NsysanError


class Refusal(NsysanError):  # noqa: N818 -- it is an answer
    """A request that is not served, with the status of the answer."""

    exit_code = 2
    status = 400

    def __init__(self, message: str, hint: str = "", *, status: int | None = None) -> None:
        super().__init__(message, hint)
        if status is not None:
            self.status = status


class NotThere(Refusal):
    """What is asked for does not exist, or is not this client's to see: both look alike."""

    status = 404


class Conflict(Refusal):
    """The request does not fit the state that things are in."""

    status = 409


class TooMuch(Refusal):
    """More than the server takes."""

    status = 413


class NoRoom(Refusal):
    """The disk of the server would get too full."""

    status = 507
