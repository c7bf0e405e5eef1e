"""Modules that are loaded when something of them is first used: loading one with kernels compiles them.

What only reads a command line needs the classes of policies, for their options, and not what these compute with. So a
wrong command line is refused before anything is compiled, and :mod:`spillway.schedulers.kernels` can say when it is.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType


def late(name: str) -> ModuleType:
    """A module that runs at the first access to one of its attributes; from then on it is as any other.

    Parameters
    ----------
    name
        Its full name. Beside the call it is imported under ``if TYPE_CHECKING``, for what reads sources.

    Raises
    ------
    ModuleNotFoundError
        There is none of that name.
    """
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError(f"no module named {name!r}", name=name)
    spec.loader = importlib.util.LazyLoader(spec.loader)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load(name: str) -> ModuleType:
    """Import a module and run it now, also where it is a late one: importing that by its name does not run it.

    Raises
    ------
    ModuleNotFoundError
        There is none of that name.
    """
    module = importlib.import_module(name)
    getattr(module, "__all__", None)  # any access will do
    return module
