"""The code that decides a result, as one hash: the sources of some modules and of all of ours that they import.

Imports are followed from text to text, also those inside functions, and no Python is imported for it: the files are
read as they are now, once per process. The compiled core states the hash of its own sources. A package's ``__init__``
counts with its modules. A module from outside (a user's policy) counts with its imports from its own package or from
the folder of its file; other installed packages do not count.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

from spillway.base.neighbours import Module, imports_of, inside, with_packages

ROOT = Path(__file__).parents[2]
"""Folder of our package."""

REPOSITORY = ROOT.parent
"""Folder around it: in a working copy that of the repository."""

KEPT_BY = "spillway.experiments.campaign.folder.reuse"
"""Judge of kept results: what it imports of the experiments describes and keeps results, and makes none."""

TABLES = ("spillway", "spillway.schedulers.policies")
"""The public names, which no module of ours imports from here; and the table of policies: each result's own policy
counts, presets are in the settings."""

CORE = "spillway.core"
"""The compiled core; its sources count as a whole."""

STUDIES = "spillway.experiments.studies"
"""Package whose ``__init__`` files, its own and those of its packages, hold claims about results and make no result."""

_IMPORT = re.compile(
    r"\n[ \t]*(?:from[ \t]+(?P<package>[\w.]+)[ \t]+import[ \t]*(?P<names>\([^)]*\)|(?:[^\n\\]|\\\n)*)"
    r"|import[ \t]+(?P<modules>[^\n]*))"
)
_NAME = re.compile(r"[\w.*]+")


@functools.cache
def code_of(*roots: str) -> str:
    """Hash the code that some modules need.

    Parameters
    ----------
    roots
        Names of modules: ours, or one loaded from a file elsewhere (a user's policy), which counts with the neighbours
        that it imports.

    Returns
    -------
    str
        Hash that is the same in every process and on every machine as long as no byte of these files changes.
    """
    total = hashlib.sha256()
    modules = modules_of(*roots)
    for name, path in sorted(modules.items()):
        total.update(f"{name}={_sha256(path)}\n".encode())
    if CORE in modules:
        total.update(core_code().encode())
    return total.hexdigest()


def core_code() -> str:
    """Hash of the C++ sources that the core was built from: what runs, also where a source was changed since."""
    from spillway.core import SOURCE_DIGEST

    return SOURCE_DIGEST


def modules_of(*roots: str) -> dict[str, Path]:
    """Files of some modules and of all of ours that they import, directly or not, by name of the module."""
    return _reached(roots, _keepers())


@functools.cache
def _keepers() -> frozenset[str]:
    """Modules of the experiments that describe and keep results."""
    package = KEPT_BY.split(".campaign", maxsplit=1)[0]
    return frozenset(name for name in _reached((KEPT_BY,), frozenset()) if name.startswith(f"{package}."))


def _reached(roots: Iterable[str], left_out: Set[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    waiting = [module for root in roots for module in _root(root)]
    while waiting:
        module = waiting.pop()
        if module.name not in found:
            found[module.name] = module.path
            waiting += [module for module in _read(module) if module.name not in left_out]
    return found


def _root(name: str) -> list[Module]:
    """A module by its name, with the packages around it if it is from outside; empty if it has no file."""
    ours = _ours().get(name)
    if ours is not None:
        return [Module(name, ours)]
    file = getattr(sys.modules.get(name), "__file__", None)
    if not file:
        return []
    path = Path(file).resolve()
    levels = name.count(".") + (path.name == "__init__.py")
    top = path.parents[levels]
    return [Module(name, path, top), *inside(name, top, name)]


@functools.cache
def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def _ours() -> dict[str, Path]:
    """All our modules."""
    found = {}
    for folder, _, names in os.walk(ROOT, followlinks=True):  # in the repository its parts are links
        parts = ("spillway", *Path(folder).relative_to(ROOT).parts)
        for name in names:
            if name.endswith(".py"):
                stem = () if name == "__init__.py" else (name.removesuffix(".py"),)
                found[".".join((*parts, *stem))] = Path(folder, name)
    return found


@functools.cache
def _read(module: Module) -> tuple[Module, ...]:
    """Modules that a module imports: ours, or those of its own package or folder."""
    text = module.path.read_bytes().decode("utf-8", "replace")
    names = _imports(text) if module.top is None else imports_of(text, module)
    found = []
    for name in sorted(set(names)):
        file = _ours().get(name)
        if file is not None:
            found += [Module(name, file)] if _counts(name, file) else []
        elif module.top is not None:
            found += inside(name, module.top, module.name)
    return tuple(found)


def _counts(name: str, file: Path) -> bool:
    """Whether an imported module of ours can make a result."""
    claims = f"{name}.".startswith(f"{STUDIES}.") and file.name == "__init__.py"
    return not claims and name not in TABLES


def _imports(text: str) -> Iterator[str]:
    """Names that a text imports, with the packages around them; a name after ``from X import`` may be no module."""
    for match in _IMPORT.finditer(f"\n{text}"):
        package, names, modules = match.group("package", "names", "modules")
        if package is None:
            for name in _NAME.findall(modules.partition("#")[0]):
                yield from with_packages(name)
            continue
        yield from with_packages(package)
        for line in names.splitlines():
            yield from (f"{package}.{name}" for name in _NAME.findall(line.partition("#")[0]))
