"""The code that decides a result, as one hash: the sources of some modules and of all of ours that they import.

Imports are followed from text to text, also those inside functions, and nothing is imported for it: the files are read
as they are now, once per process. A package's ``__init__`` counts with its modules.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
"""Folder of our packages."""

PACKAGES = ("inputs", "schedulers", "platforms", "workloads", "simulator", "experiments", "analysis")

NOT_FOLLOWED = frozenset(
    {
        "schedulers.policies",  # the table; each result's own policy counts, and its presets are in the settings
        "analysis.metrics",  # figures are made again from the rows where their code has changed
        "analysis.tables",
        "experiments.codehash",
        "experiments.errors",
        "experiments.folders",
        "experiments.kept",
        "experiments.lock",
        "experiments.manifest",
        "experiments.memory",
        "experiments.pool",
        "experiments.prepared",
        "experiments.provenance",
        "experiments.spec",
        "schedulers.durable",
        "schedulers.former",
        "schedulers.kernel_cache",
        "platforms.annotate",  # what it writes is an input, and counts with its checksum
    }
)
"""Modules that carry results about and do not make them; and the table of policies."""

_IMPORT = re.compile(
    r"\n[ \t]*(?:from[ \t]+(?P<package>[\w.]+)[ \t]+import[ \t]*(?P<names>\([^)]*\)|(?:[^\n\\]|\\\n)*)"
    r"|import[ \t]+(?P<modules>[^\n]*))"
)
_NAME = re.compile(r"[\w.]+")


@functools.cache
def code_of(*roots: str) -> str:
    """Hash the code that some modules need.

    Parameters
    ----------
    roots
        Names of modules: ours, or one loaded from a file elsewhere (a policy of the user's), whose neighbours it
        imports count too.

    Returns
    -------
    str
        The same in every process and on every machine as long as no byte of these files changes.
    """
    total = hashlib.sha256()
    for name, path in sorted(modules_of(*roots).items()):
        total.update(f"{name}={_read(path)[0]}\n".encode())
    return total.hexdigest()


def modules_of(*roots: str) -> dict[str, Path]:
    """Files of some modules and of all of ours that they import, directly or not, by name of the module."""
    found: dict[str, Path] = {}
    waiting = [(root, _ours().get(root) or _loaded(root)) for root in roots]
    while waiting:
        name, path = waiting.pop()
        if path is None or name in found:
            continue
        found[name] = path
        waiting += [(other, file) for other, file in _read(path)[1].items() if other not in found]
    return found


@functools.cache
def _ours() -> dict[str, Path]:
    """All our modules."""
    found = {}
    for package in PACKAGES:
        for folder, _, names in os.walk(ROOT / package):
            parts = Path(folder).relative_to(ROOT).parts
            for name in names:
                if name.endswith(".py"):
                    stem = () if name == "__init__.py" else (name.removesuffix(".py"),)
                    found[".".join((*parts, *stem))] = Path(folder, name)
    return found


def _loaded(name: str) -> Path | None:
    """Source of a module that was loaded from elsewhere: a policy in a file of the user's."""
    file = getattr(sys.modules.get(name), "__file__", None)
    return Path(file).resolve() if file else None


@functools.cache
def _read(path: Path) -> tuple[str, dict[str, Path]]:
    """Hash of a file, and the modules that it imports: of ours, or its neighbours where it is none of ours."""
    data = path.read_bytes()
    beside = None if path.is_relative_to(ROOT) else path.parent
    found = {}
    for name in set(_imports(data.decode("utf-8", "replace"))):
        file = _ours().get(name) or (beside and _neighbour(beside, name))
        if file and name not in NOT_FOLLOWED:
            found[name] = file
    return hashlib.sha256(data).hexdigest(), found


def _neighbour(folder: Path, name: str) -> Path | None:
    stem = folder.joinpath(*name.split("."))
    return next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)


def _imports(text: str) -> Iterator[str]:
    """Names that a text imports, with the packages around them; a name after ``from X import`` may be no module."""
    for match in _IMPORT.finditer(f"\n{text}"):
        package, names, modules = match.group("package", "names", "modules")
        if package is None:
            for name in _NAME.findall(modules.partition("#")[0]):
                yield from _with_packages(name)
            continue
        yield from _with_packages(package)
        for line in names.splitlines():
            yield from (f"{package}.{name}" for name in _NAME.findall(line.partition("#")[0]))


def _with_packages(name: str) -> Iterator[str]:
    """The module and the packages around it, which Python runs first."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))
