"""How plug-ins are found: a module in a folder that declares one constant. No list to edit, nothing runs at import."""

import pkgutil
from importlib import import_module
from types import ModuleType
from typing import TypeVar

Plugin = TypeVar("Plugin")


def discover(package: ModuleType, constant: str, kind: type[Plugin]) -> tuple[Plugin, ...]:
    """The value of ``constant`` in each module of ``package`` that declares it, in order of module name.

    Raises TypeError where a module declares the constant as something else than ``kind``.
    """
    found = []
    for module_info in pkgutil.iter_modules(package.__path__):
        module = import_module(f"{package.__name__}.{module_info.name}")
        value = getattr(module, constant, None)
        if value is None:
            continue
        if not isinstance(value, kind):
            raise TypeError(f"{module.__name__}.{constant} is no {kind.__name__}")
        found.append(value)
    return tuple(found)
