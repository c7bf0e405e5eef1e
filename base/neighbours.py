"""Modules that a file from outside imports from its own package or folder, found in its text, without importing it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

_OURS = __name__.partition(".")[0]


class Module(NamedTuple):
    """A module by name and file; ``top``: folder in which names from outside begin, ``None`` for spillway's modules."""

    name: str
    path: Path
    top: Path | None = None


def neighbours_of(path: Path) -> dict[str, Path]:
    """Files of all modules that a file imports from its own folder, directly or not, by name of the module.

    Modules of spillway are omitted: the file may be in the folder of the package.
    """
    whole = path.resolve()
    found: dict[str, Path] = {}
    waiting = [Module(whole.stem, whole, whole.parent)]
    while waiting:
        module = waiting.pop()
        text = module.path.read_bytes().decode("utf-8", "replace")
        for name in imports_of(text, module):
            if name.partition(".")[0] == _OURS:
                continue
            new = [module for module in inside(name, whole.parent, module.name) if module.name not in found]
            found |= {module.name: module.path for module in new if module.path != whole}
            waiting += new
    return found


def inside(name: str, top: Path, importer: str) -> list[Module]:
    """A module from outside and the packages around it, if the importer's own package or folder contains them."""
    own, _, within = importer.partition(".")
    if within and name.partition(".")[0] != own:
        return []
    if not within and top.name in ("site-packages", "dist-packages") and name.partition(".")[0] != own:
        return []  # its neighbours are other packages
    found = []
    for part in with_packages(name):
        stem = top.joinpath(*part.split("."))
        file = next((path for path in (stem.with_suffix(".py"), stem / "__init__.py") if path.is_file()), None)
        found += [Module(part, file, top)] if file is not None else []
    return found


def imports_of(text: str, module: Module) -> Iterator[str]:
    """Names that a module from outside imports; relative names are made absolute."""
    package = module.name.split(".")
    if module.path.name != "__init__.py":
        package.pop()
    try:
        nodes = list(ast.walk(ast.parse(text)))
    except (SyntaxError, ValueError):
        return  # a neighbour that cannot be run
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            around = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*around, *([node.module] if node.module else [])])
            yield from ([base] if base else [])
            yield from (f"{base}.{alias.name}" if base else alias.name for alias in node.names)


def with_packages(name: str) -> Iterator[str]:
    """The module and the packages around it, which Python runs first."""
    parts = name.split(".")
    return (".".join(parts[:length]) for length in range(1, len(parts) + 1))
