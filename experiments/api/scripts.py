"""Classes and functions of a script or notebook as modules that other processes load.

Definitions are taken from the source; all other names that they use get the values that they have now, so that it does
not matter how these were made. A value that cannot be written is made again by the statements that made it.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import functools
import inspect
import io
import math
import pickle
import pickletools
import re
import symtable
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from spillway.base.errors import shown
from spillway.base.users_line import is_users
from spillway.experiments.run.errors import SpecError

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
    line
        Its first line in a script; 0 in a cell.
    binds
        Names that it binds.
    rebinds
        Those that it binds by their values before it (``X = X + 1``), or perhaps not (``if A: X = 1``).
    changes
        Names with values that it changes in part.
    reads
        Names of the top level that it uses.
    defines
        Whether it is a definition, which plays nothing when it is executed.
    """

    text: str
    line: int
    binds: frozenset[str]
    rebinds: frozenset[str]
    changes: frozenset[str]
    reads: frozenset[str]
    defines: bool


def module_of(wanted: type | Callable[..., Any]) -> str:
    """Source of a module with a class or function of the main script or notebook, and with all that it needs there.

    Statements of a script keep their lines.

    Raises
    ------
    OSError
        No source has it at its top level.
    """
    main = sys.modules[wanted.__module__]
    statements = [statement for text, is_cell in _sources(main) for statement in _statements(text, is_cell)]
    if not any(wanted.__name__ in statement.binds for statement in statements):
        raise OSError("no script or cell has it at its top level")
    if vars(main).get(wanted.__name__, wanted) is not wanted:
        raise OSError("its name is bound to something else by now")
    return _text(_chosen(statements, vars(main), wanted.__name__), future=any(map(_is_future, statements)))


def changes_of(module: ModuleType) -> str:
    """Statements that give the plain values of the user's modules as they are now, where their files say otherwise.

    Other processes import these files: without a look they would play other values than this one.

    Parameters
    ----------
    module
        The module of a policy; the modules that it uses are looked at, too.

    Raises
    ------
    SpecError
        Such a value cannot be written.
    """
    lines = []
    changed = [(own, key) for own in _users(module) for key in _changed_values(own)]
    for number, (own, key) in enumerate(changed):
        value = vars(own)[key]
        try:
            text = _literal(value)
        except (ValueError, RecursionError):
            raise SpecError(
                f"{own.__name__}.{key} is {shown(value)} and not what its file says, which other processes import: "
                "change it there, or make it an option"
            ) from None
        here = f"_own_{number}"
        lines += [f"import importlib; {here} = importlib.import_module({own.__name__!r})"]
        lines += [f"if {here}.{key} != {text}: {here}.{key} = {text}"]
    return "\n".join(lines)


def _users(module: ModuleType) -> Iterator[ModuleType]:
    """A module and those that it uses, as far as they are the user's own and can be imported by name."""
    known, waiting = {module.__name__}, [module]
    while waiting:
        own = waiting.pop(0)
        if not _is_main(own.__name__):
            yield own
        for value in list(vars(own).values()):
            name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
            found = sys.modules.get(name) if isinstance(name, str) else None
            if found is not None and found.__name__ not in known and is_users(found):
                known.add(found.__name__)
                waiting.append(found)


def _changed_values(module: ModuleType) -> Iterator[str]:
    """Names that have another value than their file gives them."""
    try:
        stated = _plain_values(inspect.getsource(module))
    except (OSError, TypeError, SyntaxError):
        return
    values = vars(module)
    for name, value in stated.items():
        try:
            if name in values and bool(values[name] != value):
                yield name
        except Exception:  # no plain value any more, and one whose comparison says so
            yield name


@functools.lru_cache(maxsize=256)
def _plain_values(text: str) -> dict[str, Any]:
    """Plain values of a module by name, of names that one statement binds and none changes."""
    found: dict[str, Any] = {}
    counts = Counter[str]()
    for node in ast.parse(text).body:
        targets = getattr(node, "targets", None) or [getattr(node, "target", None)]
        if isinstance(node, ast.Assign | ast.AnnAssign) and len(targets) == 1 and isinstance(targets[0], ast.Name):
            counts[targets[0].id] += 1
            with contextlib.suppress(ValueError, TypeError, RecursionError, SyntaxError):
                found[targets[0].id] = ast.literal_eval(node.value or "")
            continue
        counts.update({*_bound(node), *(name for inner in _inner(node) for name in _changed(inner))})
    return {name: value for name, value in found.items() if counts[name] == 1}


def _chosen(statements: Sequence[_Statement], values: Mapping[str, Any], name: str) -> dict[tuple[int, int], _Line]:
    """Lines of the module by place: definitions, values, and statements that make the values that cannot be written."""
    chosen: dict[tuple[int, int], _Line] = {}
    plays, known = _playing(statements), set[str]()
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name in known or (name not in values and not any(name in one.binds for one in statements)):
            continue
        known.add(name)
        places = [place for place, one in enumerate(statements) if name in one.binds]
        made = None
        if name in values and not (places and statements[places[-1]].defines):
            made = _value(name, values[name], places or [0], statements)
        if made is not None:
            place, text, needs = made
            chosen[place, 1 + len(chosen)] = _Line(f"{name} = {text}", statements[place].line if places else 0)
            waiting += needs
            continue
        for place in _places(statements, name, plays):
            chosen[place, 0] = _Line(statements[place].text, statements[place].line)
            waiting += sorted(statements[place].reads)
    return chosen


def _value(
    name: str, value: Any, places: Sequence[int], statements: Sequence[_Statement]
) -> tuple[int, str, list[str]] | None:
    """Place and text of a value, and the definitions that it needs; ``None`` if it cannot be written."""
    try:
        return places[0], _literal(value), []
    except (ValueError, RecursionError):
        pass
    stream = io.BytesIO()
    try:
        pickle.Pickler(stream, protocol=2).dump(value)
    except Exception:  # whatever an object of the user's says
        return None
    steps = pickletools.genops(stream.getvalue())
    named = [str(text).partition(" ") for opcode, text, _ in steps if opcode.name == "GLOBAL"]
    needs = [found for module, _, found in named if _is_main(module)]
    made = [place for place, one in enumerate(statements) if one.defines and not one.binds.isdisjoint(needs)]
    after = [place for place in places if place > max(made, default=-1)]
    if not after or name in needs:
        return None
    packed = base64.b85encode(stream.getvalue()).decode()
    return after[0], f"__import__({__name__!r}, fromlist=['kept']).kept({packed!r}, globals())", needs


def _literal(value: Any) -> str:
    """Text of a plain value, the same in each process; raise :class:`ValueError` for another one."""
    kind = type(value)
    if value is None or kind in (bool, int, str, bytes) or (kind is float and math.isfinite(value)):
        return repr(value)
    if kind is dict:
        return "{" + ", ".join(f"{_literal(key)}: {_literal(one)}" for key, one in value.items()) + "}"
    if kind in (list, tuple):
        texts = "".join(f"{_literal(one)}, " for one in value)
        return f"[{texts[:-2]}]" if kind is list else f"({texts[:-1]})"
    if kind in (set, frozenset):
        return f"{kind.__name__}([{', '.join(sorted(map(_literal, value)))}])"
    raise ValueError("no plain value")


def kept(packed: str, names: Mapping[str, Any]) -> Any:
    """Unpack a value in a module that :func:`module_of` wrote; ``names`` are the module's."""

    class Unpickler(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            return names[name] if _is_main(module) else super().find_class(module, name)

    return Unpickler(io.BytesIO(base64.b85decode(packed))).load()


def _is_main(module: str) -> bool:
    return module in MAIN


MAIN = ("__main__", "__mp_main__", "<run_path>")
"""Names of the main script, which other processes cannot import: also in processes of multiprocessing, in runpy."""


@dataclass(frozen=True)
class _Line:
    """A statement of the module; ``line``: its first line in the script, 0 for any."""

    text: str
    line: int


def _text(chosen: Mapping[tuple[int, int], _Line], *, future: bool) -> str:
    """Text of a module, with statements at their lines where these are free."""
    text = "from __future__ import annotations\n" if future else ""
    for place in sorted(chosen):
        text += "\n" * max(0, chosen[place].line - 1 - text.count("\n")) + chosen[place].text + "\n"
    return text


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


def _sources(main: ModuleType) -> list[tuple[str, bool]]:
    """Texts of the main script, or of the cells that a notebook has executed (``True``)."""
    if hasattr(main, "__file__"):
        return [(inspect.getsource(main), False)]
    return [(str(cell), True) for cell in getattr(main, "In", ())]


def _statements(text: str, is_cell: bool) -> Iterator[_Statement]:
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a cell that never ran
        return
    lines = text.splitlines()
    for node in _flat(tree.body):
        if is_cell and (inner := _under_magic(node)) is not None:
            yield from _statements(inner, is_cell)
            continue
        first, margin = _first_line(node), node.col_offset
        own = "\n".join(line[margin:] for line in lines[first - 1 : node.end_lineno])
        bound, reads = frozenset(_bound(node)), _reads(own)
        yield _Statement(
            own,
            0 if is_cell else first,
            bound,
            frozenset() if isinstance(node, _DEFINITIONS) else bound if isinstance(node, _COMPOUND) else bound & reads,
            frozenset(name for inner in _inner(node) for name in _changed(inner)),
            reads,
            isinstance(node, _DEFINITIONS),
        )


def _reads(text: str) -> frozenset[str]:
    """Names of the top level that a statement uses, also in its functions."""
    top = symtable.symtable(text, "<statement>", "exec")

    def below(table: symtable.SymbolTable) -> Iterator[str]:
        for inner in table.get_children():
            yield from (symbol.get_name() for symbol in inner.get_symbols() if symbol.is_global())
            yield from below(inner)

    return frozenset([*(one.get_name() for one in top.get_symbols() if one.is_referenced()), *below(top)])


def _under_magic(node: ast.stmt) -> str | None:
    """Text of a cell below ``%%time`` or another magic word."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if isinstance(call.func, ast.Attribute) and call.func.attr == "run_cell_magic" and len(call.args) == 3:
            text = call.args[2]
            return text.value if isinstance(text, ast.Constant) and isinstance(text.value, str) else None
    return None


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


def _is_future(statement: _Statement) -> bool:
    return statement.text.startswith("from __future__")


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
