"""Import statements of our packages, read from their syntax trees: nothing is imported to find them."""

import ast
import functools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).parents[2]
ROOT_PACKAGE = "spillway."
PACKAGES = (
    "base",
    "protocol",
    "core",
    "schedulers",
    "platforms",
    "workloads",
    "simulator",
    "learning",
    "experiments",
    "analysis",
)
"""Parts of the package; names of modules are given without the package itself."""


class Import(NamedTuple):
    """One imported module.

    Attributes
    ----------
    target
        Module (a submodule where ``from package import submodule`` names one of ours), or ``module.name`` for a name of
        a module that is not ours (``random.Random``).
    line
        In the file, from 1.
    place
        ``module`` where the statement runs when the module is imported, ``function`` inside a function, ``types`` under
        ``if TYPE_CHECKING``.
    """

    target: str
    line: int
    place: str


def modules(root: Path = REPOSITORY) -> dict[str, Path]:
    """All modules of our packages with their files."""
    return {
        module_name(path.relative_to(root)): path for package in PACKAGES for path in (root / package).rglob("*.py")
    }


def module_name(path: Path) -> str:
    """Name of the module in a file; ``path`` is relative to the repository."""
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def imports(name: str, source: str, ours: frozenset[str], is_package: bool = False) -> tuple[Import, ...]:
    """Imports of a module, in order, including those by other means than a statement.

    Parameters
    ----------
    name
        The module's.
    source
        Its text.
    ours
        Names of all modules of our packages.
    is_package
        Whether the text is that of an ``__init__.py`` (relative imports count from there).

    Notes
    -----
    Two other ways are listed as if they were statements: ``__import__(...)``, and ``numpy.random`` reached as an
    attribute of ``numpy``.
    """
    found: list[Import] = []
    for node, place in _nodes(ast.parse(source), "module"):
        if isinstance(node, ast.Import):
            found += [Import(_within(alias.name), node.lineno, place) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _within(_absolute(node, name, is_package))
            found += [Import(_target(base, alias.name, ours), node.lineno, place) for alias in node.names]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "__import__":
            found.append(Import("__import__", node.lineno, place))
        elif isinstance(node, ast.Attribute) and node.attr == "random" and ast.unparse(node.value) in ("np", "numpy"):
            found.append(Import("numpy.random", node.lineno, place))
    return tuple(found)


def graph(places: Iterable[str], root: Path = REPOSITORY) -> dict[str, set[str]]:
    """Modules of ours by module, for the imports in these places."""
    chosen, all_modules = frozenset(places), modules(root)
    edges: dict[str, set[str]] = {}
    for name, path in all_modules.items():
        found = imports(name, path.read_text(), frozenset(all_modules), path.name == "__init__.py")
        edges[name] = {edge.target for edge in found if edge.place in chosen and edge.target in all_modules}
    return edges


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or not (strongly connected components, Tarjan's algorithm)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    found: list[list[str]] = []

    def visit(name: str) -> None:
        order[name] = low[name] = len(order)
        path.append(name)
        for target in sorted(edges[name]):
            if target not in order:
                visit(target)
            if target in path:
                low[name] = min(low[name], low[target])
        if low[name] == order[name]:
            group = path[path.index(name) :]
            del path[path.index(name) :]
            if len(group) > 1 or name in edges[name]:
                found.append(sorted(group))

    for name in sorted(edges):
        if name not in order:
            visit(name)
    return found


def _nodes(node: ast.AST, place: str) -> Iterator[tuple[ast.AST, str]]:
    for child in ast.iter_child_nodes(node):
        inner = place
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            inner = "function"
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            inner = "types"
        yield child, inner
        yield from _nodes(child, inner)


def _absolute(node: ast.ImportFrom, name: str, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    parts = name.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, node.module] if node.module else parts)


def _within(name: str) -> str:
    """Name below our package; that of any other module as it is."""
    return name.removeprefix(ROOT_PACKAGE)


def _target(base: str, name: str, ours: frozenset[str]) -> str:
    full = f"{base}.{name}"
    return full if full in ours or base not in ours else base
