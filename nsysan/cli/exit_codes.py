"""What the exit codes of the command line mean, where no error says its own."""

from __future__ import annotations

EXIT_FINDING = 1
EXIT_USAGE = 2
EXIT_BUG = 4
EXIT_UNDECIDED = 5
EXIT_SIGNALLED = 128
"""Plus the number of the signal, as a shell tells of a program that one ended."""
EXIT_INTERRUPTED = 130
EXIT_BROKEN_PIPE = 141
