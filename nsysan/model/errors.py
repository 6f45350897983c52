"""The errors nsysan raises: each says what is wrong and what to try next, and carries its exit code."""


class NsysanError(Exception):
    """Root of nsysan's own errors.

    ``message`` is one clear sentence; ``hint`` is the next thing to try, or empty.
    """

    exit_code = 4

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n{self.hint}" if self.hint else self.message


class UsageError(NsysanError):
    """The options do not fit together, or name something that is not there."""

    exit_code = 2


class InputError(NsysanError):
    """The file given cannot be read as what it claims to be."""

    exit_code = 2


class MissingToolError(NsysanError):
    """This machine lacks something the work needs, such as an nsys that can export the report."""

    exit_code = 3


class UndecidableError(NsysanError):
    """The question was understood, but the input cannot answer it."""

    exit_code = 5
