"""A small mutation run: ``python -m tools.mutants --minutes 10`` prints the share of wrong files that the tests notice.

A mutant differs in one place from a file of :data:`TESTS`: another comparison or arithmetic operator, a number one
higher, a condition or a part of one left out. It is noticed if a test of the file fails, or takes far too long.
Mutants are drawn by a seed, from the files in turn, and tested in a copy of the tree; those that no test notices are
printed. Those of :mod:`tools.equivalent_mutants`, which make no difference, are neither tested nor counted.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from tools.equivalent_mutants import EQUIVALENT, Equivalent

ROOT = Path(__file__).resolve().parents[1]
TESTS: Mapping[str, str] = {
    "simulator/jobs/programs.py": "tests/simulator/jobs tests/simulator/test_kills.py tests/simulator/wire",
    "simulator/world/power.py": "tests/simulator/world",
    "schedulers/jobmodels/io_aware.py": "tests/schedulers/jobmodels/test_io_aware.py "
    "tests/schedulers/jobmodels/test_runtime.py tests/schedulers/jobmodels/test_gated.py "
    "tests/schedulers/jobmodels/test_stream_demand.py tests/base/test_options.py",
    "schedulers/jobmodels/stream.py": "tests/schedulers/jobmodels/test_stream.py "
    "tests/schedulers/jobmodels/test_stream_demand.py tests/schedulers/service/test_doors.py",
    "schedulers/core/guard.py": "tests/schedulers/core",
    "schedulers/core/book.py": "tests/schedulers/core tests/properties/test_product.py",
}
"""Core files, and the tests that belong to them."""

PATIENCE = 8.0
"""A mutant under which tests take this many times as long as usual, and a minute more, is noticed."""

_OPERATORS: Mapping[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult, ast.Pow: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift,
}  # fmt: skip
"""Replacements of operators."""

_LEFT_OUT = (ast.JoinedStr, ast.Assert, ast.Raise)
"""Parts that are not changed: texts, our own invariants, and errors."""


@dataclass(frozen=True)
class Mutant:
    """A file's text with one place changed."""

    line: int
    before: str
    after: str
    text: str

    @property
    def change(self) -> str:
        """The place before and after the change."""
        return f"{self.before} -> {self.after}"

    def __str__(self) -> str:
        return f"{self.line}: {self.change}"


def mutants(source: str) -> Iterator[Mutant]:
    """All mutants of a module, in the order of their places."""
    data = source.encode()
    starts = [0, *itertools.accumulate(len(line) for line in data.splitlines(keepends=True))]
    for node in _nodes(ast.parse(source)):
        for place, changed in _changes(node):
            begin = starts[place.lineno - 1] + place.col_offset
            end = starts[(place.end_lineno or 0) - 1] + (place.end_col_offset or 0)
            before, after = data[begin:end].decode(), ast.unparse(changed)
            written = after if isinstance(changed, ast.stmt) else f"({after})"
            text = (data[:begin] + written.encode() + data[end:]).decode()
            yield Mutant(place.lineno, " ".join(before.split()), after, text)


def telling(source: str, equivalent: Sequence[Equivalent]) -> tuple[list[Mutant], int]:
    """Mutants of a module that make a difference, and the number of the others."""
    lines, every = source.splitlines(), list(mutants(source))
    found = [one for one in every if not any(row.covers(lines[one.line - 1], one.change) for row in equivalent)]
    return found, len(every) - len(found)


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes below a node that may be changed: no annotations, no decorators."""
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, _LEFT_OUT):
                yield child
                yield from _nodes(child)


def _changes(node: ast.AST) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr | ast.stmt]]:
    """Places in a node, with their replacements."""
    match node:
        case ast.Compare():
            for at in range(len(node.ops)):
                yield node, ast.Compare(node.left, _but(node.ops, at), node.comparators)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            yield node, ast.BinOp(node.left, _but([node.op], 0)[0], node.right)
        case ast.AugAssign() if type(node.op) in _OPERATORS:
            yield node, ast.AugAssign(node.target, _but([node.op], 0)[0], node.value)
        case ast.BoolOp():
            for at in range(len(node.values)):
                kept = [*node.values[:at], *node.values[at + 1 :]]
                yield node, ast.BoolOp(node.op, kept) if len(kept) > 1 else kept[0]
        case ast.UnaryOp(op=ast.Not()):
            yield node, node.operand
        case ast.Constant(value=bool()):
            yield node, ast.Constant(not node.value)
        case ast.Constant(value=int() | float() as number) if number + 1 != number:
            yield node, ast.Constant(number + 1)
        case ast.If() | ast.IfExp():
            yield node.test, ast.Constant(value=True)
            if not isinstance(node.test, ast.Compare | ast.BoolOp | ast.UnaryOp):  # which are changed themselves
                yield node.test, ast.Constant(value=False)


def _but(operators: list[Any], at: int) -> list[Any]:
    """Operators with another one at a place."""
    return [*operators[:at], _OPERATORS[type(operators[at])](), *operators[at + 1 :]]


@dataclass
class Score:
    """Numbers of a file's mutants that are left, make no difference or were noticed; and those that were not."""

    left: int
    equivalent: int = 0
    noticed: int = 0
    survivors: list[Mutant] = field(default_factory=list)


class Copy:
    """A copy of the tree, in which files are changed and tests run."""

    def __init__(self, root: Path, folder: Path) -> None:
        unread = shutil.ignore_patterns(".git", ".venv", "results", ".*_cache", ".hypothesis", "*.egg-info")

        def ignored(place: str, names: list[str]) -> set[str]:
            """These, and the built site, which is named as a folder of the experiments is."""
            return {*unread(place, names), *({"site", "build"} if Path(place) == root else ())}

        self.root = Path(shutil.copytree(root, folder / "tree", symlinks=True, ignore=ignored))
        self._env = os.environ | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}

    def passes(self, tests: str, seconds: float | None = None) -> bool:
        """Whether tests pass in time."""
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests.split()]
        with subprocess.Popen(
            command, cwd=self.root, env=self._env, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, process_group=0
        ) as process:
            try:
                return process.wait(seconds) == 0
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return False

    def notices(self, name: str, mutant: Mutant, tests: str, seconds: float) -> bool:
        """Whether tests notice a mutant of a file."""
        file = self.root / name
        kept = file.read_bytes()
        try:
            file.write_text(mutant.text, encoding="utf-8")
            return not self.passes(tests, seconds)
        finally:
            file.write_bytes(kept)


def run(
    tree: Copy, names: Mapping[str, int], minutes: float, rng: Random, tests: Mapping[str, str] = TESTS
) -> dict[str, Score]:
    """Test the mutants of files, or of one line of each, until the time is over or no mutant is left.

    Raises
    ------
    SystemExit
        Tests fail without a change.
    """
    until_s = time.monotonic() + 60.0 * minutes
    longest_s: dict[str, float] = {}
    waiting: dict[str, list[Mutant]] = {}
    same: dict[str, int] = {}
    for name, line in names.items():
        begin_s = time.monotonic()
        if not tree.passes(tests[name]):
            raise SystemExit(f"{name}: its tests fail without a change: {tests[name]}")
        longest_s[name] = PATIENCE * (time.monotonic() - begin_s) + 60.0
        found, same[name] = telling((tree.root / name).read_text(encoding="utf-8"), EQUIVALENT.get(name, ()))
        waiting[name] = [one for one in found if line in (0, one.line)]
        rng.shuffle(waiting[name])
    scores = {name: Score(len(found), same[name]) for name, found in waiting.items()}
    for row in itertools.zip_longest(*waiting.values()):
        for (name, score), mutant in zip(scores.items(), row, strict=True):
            if mutant is None or time.monotonic() >= until_s:
                continue
            score.left -= 1
            if tree.notices(name, mutant, tests[name], longest_s[name]):
                score.noticed += 1
            else:
                score.survivors.append(mutant)
                print(f"survives: {name}:{mutant}", flush=True)
    return scores


def table(scores: Mapping[str, Score]) -> str:
    """A line for each file."""
    lines = [f"{'file':<40} {'noticed':>8} {'tested':>7} {'score':>7} {'left':>6} {'equivalent':>11}"]
    for name, score in scores.items():
        tested = score.noticed + len(score.survivors)
        share = f"{score.noticed / tested:.1%}" if tested else "-"
        lines.append(f"{name:<40} {score.noticed:>8} {tested:>7} {share:>7} {score.left:>6} {score.equivalent:>11}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line; return 1 if a mutant survives."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description=str(__doc__).split("\n")[0])
    parser.add_argument("file", nargs="*", help=f"files, as FILE or FILE:LINE (all): {', '.join(TESTS)}")
    parser.add_argument("--minutes", type=float, default=10.0, metavar="N", help="stop after so long (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the order (%(default)s)")
    options = parser.parse_args(arguments)
    names = {name: int(line or 0) for name, _, line in (file.partition(":") for file in options.file or TESTS)}
    unknown = [name for name in names if name not in TESTS]
    if unknown:
        parser.error(f"no tests are known for {unknown[0]!r}; expected of {', '.join(TESTS)}")
    with tempfile.TemporaryDirectory(prefix="spillway-mutants-") as folder:
        scores = run(Copy(ROOT, Path(folder)), names, options.minutes, Random(options.seed))
    print(table(scores))
    return int(any(score.survivors for score in scores.values()))


if __name__ == "__main__":
    sys.exit(main())
