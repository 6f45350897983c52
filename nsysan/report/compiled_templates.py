"""Templates are compiled once and kept where Python keeps compiled modules: beside their sources."""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path

from jinja2 import FileSystemBytecodeCache, __version__
from jinja2.bccache import Bucket


class CompiledTemplates(FileSystemBytecodeCache):
    """What jinja2 made of each template, as long as its source and the releases of Python and jinja2 are the same.

    Where nothing can be read or written, each process compiles for itself.
    """

    def load_bytecode(self, bucket: Bucket) -> None:
        """Bring one template, if it is kept."""
        with suppress(OSError):
            super().load_bytecode(bucket)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep one template if there is a place for it."""
        with suppress(OSError):
            Path(self.directory).mkdir(exist_ok=True)
            super().dump_bytecode(bucket)


def compiled_templates(package: str) -> CompiledTemplates | None:
    """The compiled templates of a package that is imported; None where Python shall keep nothing either."""
    source = sys.modules[package].__file__
    if sys.dont_write_bytecode or source is None:
        return None
    return CompiledTemplates(str(Path(cache_from_source(source)).parent), f"%s.jinja-{__version__}.cache")
