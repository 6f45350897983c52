"""How plug-ins are found: a module in a folder that declares one constant. No list to edit, nothing runs at import."""

import os
import pkgutil
from importlib import import_module
from types import ModuleType
from typing import TypeVar

Plugin = TypeVar("Plugin")


def discover(package: ModuleType, constant: str, kind: type[Plugin]) -> tuple[Plugin, ...]:
    """The value of ``constant`` in each module of ``package`` that declares it, in order of module name.

    Raises TypeError where a module declares the constant as something else than ``kind``, OSError or MemoryError where
    the folder cannot be listed.
    """
    found = []
    for module_info in _modules(package):
        module = import_module(f"{package.__name__}.{module_info.name}")
        value = getattr(module, constant, None)
        if value is None:
            continue
        if not isinstance(value, kind):
            raise TypeError(f"{module.__name__}.{constant} is no {kind.__name__}")
        found.append(value)
    return tuple(found)


def _modules(package: ModuleType) -> list[pkgutil.ModuleInfo]:
    """The modules of the package, which has some: pkgutil takes a folder that it cannot list for an empty one."""
    found = list(pkgutil.iter_modules(package.__path__))
    if not found:
        for folder in package.__path__:
            os.scandir(folder).close()
        raise MemoryError(f"the modules of {package.__name__} could be listed at the second try only")
    return found
