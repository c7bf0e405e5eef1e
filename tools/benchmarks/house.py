"""Size of the packages: lines, files and public names per folder, longest signatures, import circles.

``python -m tools.benchmarks.house [ROOT]`` prints the tables of the repository, or of another tree of it: that of
an older commit, unpacked by ``git archive COMMIT | tar -x -C ROOT``.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.imports.graph import PACKAGES, REPOSITORY, circles, graph

PLACES = (("module",), ("module", "function"), ("module", "function", "types"))


class Size(NamedTuple):
    """Size of one folder without those below it.

    Attributes
    ----------
    files, lines
        Python files and their lines.
    public
        Names without a leading underscore that its modules define at their top level: classes, functions and assigned
        names.
    """

    files: int
    lines: int
    public: int

    def __add__(self, other: tuple[int, ...]) -> Size:  # type: ignore[override]
        """Both together."""
        return Size(*(one + two for one, two in zip(self, other, strict=True)))


class Signature(NamedTuple):
    """Number of parameters of a function, with its place."""

    parameters: int
    name: str


def sizes(root: Path = REPOSITORY) -> dict[str, Size]:
    """Sizes of all folders of our packages and of ``tests/reference``, by path."""
    found: dict[str, Size] = {}
    for package in (*PACKAGES, "tests/reference"):
        for path in sorted((root / package).rglob("*.py")):
            source = path.read_text()
            folder = path.parent.relative_to(root).as_posix()
            public = len(set(_public(ast.parse(source))))
            found[folder] = found.get(folder, Size(0, 0, 0)) + Size(1, source.count("\n"), public)
    return found


def longest_signatures(count: int, root: Path = REPOSITORY) -> list[Signature]:
    """The functions with most parameters (``self`` and ``cls`` not counted), longest first."""
    found = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    given = node.args
                    names = [posonlyarg.arg for posonlyarg in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
                    number = sum(name not in ("self", "cls") for name in names)
                    found.append(Signature(number, f"{path.relative_to(root).as_posix()}:{node.name}"))
    return sorted(found, key=lambda one: (-one.parameters, one.name))[:count]


def main(root: Path) -> None:
    """Print the tables."""
    folders = sizes(root)
    print(f"{'folder':32} {'files':>6} {'lines':>7} {'public':>7}")
    for folder, size in folders.items():
        print(f"{folder:32} {size.files:6} {size.lines:7} {size.public:7}")
    for package in PACKAGES:
        total = Size(0, 0, 0)
        for folder, size in folders.items():
            if folder.split("/")[0] == package:
                total += size
        print(f"{'all of ' + package:32} {total.files:6} {total.lines:7} {total.public:7}")
    print("\nlongest signatures")
    for signature in longest_signatures(8, root):
        print(f"{signature.parameters:4}  {signature.name}")
    print("\nimport circles")
    for places in PLACES:
        print(f"{' + '.join(places):28} {len(circles(graph(places, root)))}")


def _public(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_"))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve() if sys.argv[1:] else REPOSITORY)
