"""Classes of a script or notebook as modules that other processes load: the statements that they need."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass

_FACE = re.compile(r"import spillway\s*(?:$|,|as\b)|from spillway import")
"""Beginnings of the statements that import the calls of the package."""

_COMPOUND = (ast.If, ast.For, ast.While, ast.Try, ast.With)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
_HARMLESS = frozenset({"print", "display", "len", "help"})
"""Functions that change none of their arguments."""


@dataclass(frozen=True)
class _Statement:
    """A top-level statement.

    Attributes
    ----------
    text
        Its source.
    binds
        Names that it binds.
    rebinds
        Those that it binds by their values before it (``X = X + 1``), or perhaps not (``if A: X = 1``).
    changes
        Names with values that it changes in part.
    reads
        All names in it.
    defines
        Whether it is a definition, which plays nothing when it is executed.
    """

    text: str
    binds: frozenset[str]
    rebinds: frozenset[str]
    changes: frozenset[str]
    reads: frozenset[str]
    defines: bool


def module_of(cls: type) -> str:
    """Source of a module with a class of the main script or notebook, and with all that it needs from there.

    The statements are those that bind the names in it (imports, functions, constants), and so on for these, in their
    order; calls that the class does not need are left out.

    Raises
    ------
    OSError
        No source has the class at its top level.
    """
    statements = [statement for text in _sources() for statement in _statements(text)]
    wanted, kept = {cls.__name__}, set[int]()
    if not any(cls.__name__ in statement.binds for statement in statements):
        raise OSError("no script or cell has it at its top level")
    before, plays = -1, _playing(statements)
    while len(kept) != before:
        before = len(kept)
        for name in sorted(wanted):
            kept.update(_places(statements, name, plays))
        wanted = {cls.__name__}.union(*(statements[place].reads for place in kept))
    future = (
        ["from __future__ import annotations"]
        if any("__future__" in statement.reads for statement in statements)
        else []
    )
    chosen = (statements[place] for place in sorted(kept) if "__future__" not in statements[place].reads)
    return "\n\n".join([*future, *(statement.text for statement in chosen)]) + "\n"


def _places(statements: Sequence[_Statement], name: str, plays: Set[int]) -> Iterator[int]:
    """Places of the last statements that bind a name, and of those that change its value, except ``plays``."""
    first = len(statements)
    for place in reversed(range(len(statements))):
        if name in statements[place].binds:
            yield (first := place)
            if name not in statements[place].rebinds:
                break
    yield from (
        place for place in range(first + 1, len(statements)) if name in statements[place].changes and place not in plays
    )


def _playing(statements: Sequence[_Statement]) -> set[int]:
    """Places of statements that call the package, themselves or by a function of the script: they run once only."""
    calls: set[str] = set().union(*(statement.binds for statement in statements if _FACE.match(statement.text)))
    before = -1
    while len(calls) != before:
        before = len(calls)
        calls.update(
            *(
                statement.binds
                for statement in statements
                if statement.defines and not calls.isdisjoint(statement.reads)
            )
        )
    return {
        place
        for place, statement in enumerate(statements)
        if not statement.defines and not calls.isdisjoint(statement.reads)
    }


def _sources() -> list[str]:
    """Texts of the main script, or of the cells that a notebook has executed."""
    main = sys.modules["__main__"]
    if hasattr(main, "__file__"):
        return [inspect.getsource(main)]
    return [str(cell) for cell in getattr(main, "In", ())]


def _statements(text: str) -> Iterator[_Statement]:
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a cell that never ran
        return
    for node in _flat(tree.body):
        lines = text.splitlines()[_first_line(node) - 1 : node.end_lineno]
        margin = node.col_offset
        names = [node_of_name for node_of_name in ast.walk(node) if isinstance(node_of_name, ast.Name)]
        bound = frozenset(_bound(node))
        loaded = {name.id for name in names if isinstance(name.ctx, ast.Load)}
        yield _Statement(
            "\n".join(line[margin:] for line in lines),
            bound,
            frozenset() if isinstance(node, _DEFINITIONS) else bound if isinstance(node, _COMPOUND) else bound & loaded,
            frozenset(name for inner in _inner(node) for name in _changed(inner)),
            frozenset({name.id for name in names} | ({"__future__"} if _is_future(node) else set())),
            isinstance(node, _DEFINITIONS),
        )


def _flat(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements of a module, with those below ``if __name__ == "__main__"``."""
    for node in body:
        if isinstance(node, ast.If) and "__name__" in ast.unparse(node.test):
            yield from _flat(node.body)
        else:
            yield node


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def _is_future(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and node.module == "__future__"


def _bound(node: ast.stmt) -> Iterator[str]:
    """Names that a statement binds at the top level, also below conditions, loops and ``try``."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield node.name
        return
    if isinstance(node, ast.AugAssign):
        return
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).partition(".")[0] for alias in node.names)
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.withitem):
            yield from _bound(child)  # type: ignore[arg-type]  # their children are statements and targets
        else:
            yield from (
                node.id for node in ast.walk(child) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            )


def _inner(node: ast.AST) -> Iterator[ast.stmt]:
    """A statement, and those in its loops, conditions and ``try``."""
    if isinstance(node, ast.stmt):
        yield node
    for child in ast.iter_child_nodes(node) if isinstance(node, (*_COMPOUND, ast.ExceptHandler)) else ():
        if isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from _inner(child)


def _changed(node: ast.stmt) -> Iterator[str]:
    """Names with values that a statement changes in part: ``TABLE["x"] = 1``, ``LIST += [1]``, ``LIST.append(1)``,
    ``del TABLE["x"]``, perhaps ``prepare(TABLE)``."""
    found: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        found = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        found = [node.target]
    elif isinstance(node, ast.Delete):
        found = node.targets
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if isinstance(call.func, ast.Attribute):
            found = [call.func]
        elif isinstance(call.func, ast.Name) and call.func.id not in _HARMLESS:
            found = [*call.args, *(keyword.value for keyword in call.keywords)]
    for target in found:
        while isinstance(target, ast.Subscript | ast.Attribute):
            target = target.value
        if isinstance(target, ast.Name):
            yield target.id
