"""Modules that are loaded on first use, because loading a module with kernels compiles them.

Reading a command line needs the classes of policies, for their options, but not the kernels with which they compute. So
a wrong command line is refused before anything is compiled, and :mod:`spillway.schedulers.kernels` can announce it.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType


def late(name: str) -> ModuleType:
    """A module that runs at the first access to one of its attributes; afterwards it is like any other.

    Parameters
    ----------
    name
        Its full name. In addition, it is imported under ``if TYPE_CHECKING``, for tools that read sources.

    Raises
    ------
    ModuleNotFoundError
        There is no module of that name.
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
    """Import a module and run it now, even a late one, which a plain import does not run.

    Raises
    ------
    ModuleNotFoundError
        There is no module of that name.
    """
    module = importlib.import_module(name)
    getattr(module, "__all__", None)  # any access runs it
    return module
