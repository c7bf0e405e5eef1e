"""Mutants of the compiled core: ``python -m tools.core_mutants --sample 60`` prints which the specification notices.

A mutant differs in one place from a C++ file: another comparison, arithmetic or logical operator, a one left out, the
smaller for the larger of two values. Each of a sample is compiled in a copy of the tree, with a build folder of its
own, and noticed if ``python -m tools.specification --brief`` then finds a difference, fails, or takes far too long,
or if one of the tests of ``--tests`` does.
Mutants that do not compile are left out, and others drawn instead.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple

from tools.mutants import PATIENCE, ROOT, Copy

FOLDERS = ("core/book", "core/session", "core/search")
"""Folders of mutants if none is given."""

CHANGES = (
    (r"(?<= )<(?= )", "<="),
    (r"(?<= )<=(?= )", "<"),
    (r"(?<= )>(?= )", ">="),
    (r"(?<= )>=(?= )", ">"),
    (r"(?<= )==(?= )", "!="),
    (r"(?<= )!=(?= )", "=="),
    (r"(?<= )&&(?= )", "||"),
    (r"(?<= )\|\|(?= )", "&&"),
    (r"(?<= )\+(?= )", "-"),
    (r"(?<= )-(?= )", "+"),
    (r"(?<= )\+=(?= )", "-="),
    (r"(?<= )-=(?= )", "+="),
    (r" [+-] 1\b(?![.\d])", ""),
    (r"\bstd::min\b", "std::max"),
    (r"\bstd::max\b", "std::min"),
)
"""Places, with spaces around operators as clang-format writes them, and what is put there."""

_HIDDEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*(?:#|static_assert|assert\()[^\n]*', re.DOTALL | re.MULTILINE
)
"""Parts that are not changed: comments, texts, preprocessor lines, assertions."""


class CoreMutant(NamedTuple):
    """A file's text with one place changed."""

    name: str
    line: int
    before: str
    after: str
    text: str

    def __str__(self) -> str:
        source = self.text.splitlines()[self.line - 1].strip()
        return f"{self.name}:{self.line}: {self.before.strip()!r} -> {self.after!r}: {source}"


def mutants(name: str, source: str) -> Iterator[CoreMutant]:
    """All mutants of a file."""
    shown = _HIDDEN.sub(lambda found: re.sub(r"[^\n]", "\0", found[0]), source)
    for pattern, after in CHANGES:
        for found in re.finditer(pattern, shown):
            begin, end = found.span()
            line = source.count("\n", 0, begin) + 1
            yield CoreMutant(name, line, source[begin:end], after, source[:begin] + after + source[end:])


class BuiltTree:
    """A copy of the tree with its core compiled there.

    Parameters
    ----------
    folder
        An empty folder for the copy and the build.
    tests
        Tests that must pass, too.
    """

    def __init__(self, folder: Path, tests: Sequence[str] = ()) -> None:
        self._tests = tests
        self.root = Copy(ROOT, folder).root
        for module in (self.root / "core").glob("_native.*.so"):
            module.unlink()
        # Little optimisation: compiling takes longer than the tests; warnings would refuse mutants.
        launcher = folder / "quickly"
        launcher.write_text('#!/bin/sh\nexec "$@" -O1 -w\n', encoding="utf-8")
        launcher.chmod(0o755)
        self._tools = Path(sys.executable).parent
        self._build = folder / "build"
        self._env = os.environ | {"PYTHONPATH": str(self.root), "PYTHONDONTWRITEBYTECODE": "1"}
        configure = (
            *(str(self._tools / "cmake"), "-S", str(self.root), "-B", str(self._build), "-G", "Ninja"),
            *(f"-DCMAKE_MAKE_PROGRAM={self._tools / 'ninja'}", f"-DPython_EXECUTABLE={sys.executable}"),
            "-DSPILLWAY_UNITY=OFF",  # each mutant changes one file
            *(f"-DCMAKE_CXX_COMPILER_LAUNCHER={launcher}", "-DSPILLWAY_IN_SOURCE=ON", "--log-level=WARNING"),
        )
        if self._run(configure) or not self.compiles():
            raise SystemExit("the core does not compile without a change")

    def compiles(self) -> bool:
        """Whether the core compiles as its files are now."""
        return self._run((str(self._tools / "cmake"), "--build", str(self._build), "--parallel", "2")) == 0

    def agrees(self, seconds: float | None = None) -> bool:
        """Whether the core agrees with the specification and the tests, each in time."""
        if self._run((sys.executable, "-m", "tools.specification", "--brief"), seconds):
            return False
        command = (sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "-p", "no:cacheprovider", *self._tests)
        return not self._tests or self._run(command, seconds) == 0

    def _run(self, command: Sequence[str], seconds: float | None = None) -> int:
        with subprocess.Popen(
            command, cwd=self.root, env=self._env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, process_group=0
        ) as process:
            try:
                return process.wait(seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return -1


def run(
    tree: BuiltTree, files: Sequence[str], sample: int, minutes: float, rng: Random, first: int = 0
) -> tuple[Counter[str], list[CoreMutant]]:
    """Test a sample of mutants of some files; counts of outcomes, and those that were not noticed."""
    begin_s = time.monotonic()
    if not tree.agrees():
        raise SystemExit("the core differs from the specification, or a test fails, without a change")
    longest_s = PATIENCE * (time.monotonic() - begin_s) + 60.0
    places = [file.partition(":")[::2] for file in files]
    every = [
        mutant
        for name, line in places
        for mutant in mutants(name, (ROOT / name).read_text(encoding="utf-8"))
        if line in ("", str(mutant.line))
    ]
    rng.shuffle(every)
    counts, left, until_s = Counter[str](), list[CoreMutant](), time.monotonic() + 60.0 * minutes
    print(f"{len(every)} mutants in {len(files)} files", flush=True)
    for mutant in every[first:]:
        if counts["noticed"] + counts["not noticed"] >= sample or time.monotonic() >= until_s:
            break
        file = tree.root / mutant.name
        kept = file.read_bytes()
        file.write_text(mutant.text, encoding="utf-8")
        outcome = "does not compile" if not tree.compiles() else "not noticed" if tree.agrees(longest_s) else "noticed"
        file.write_bytes(kept)
        counts[outcome] += 1
        left += [mutant] * (outcome == "not noticed")
        print(f"{outcome}: {mutant}", flush=True)
    return counts, left


def main(arguments: list[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m tools.core_mutants", description=str(__doc__).split("\n")[0])
    parser.add_argument("file", nargs="*", default=FOLDERS, help=f"FILE, FILE:LINE or folder ({', '.join(FOLDERS)})")
    parser.add_argument("--sample", type=int, default=60, metavar="N", help="mutants to test (%(default)s)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="drawn mutants to pass over (%(default)s)")
    parser.add_argument("--minutes", type=float, default=240.0, metavar="N", help="stop after so long (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="of the sample (%(default)s)")
    parser.add_argument("--tests", nargs="+", default=(), metavar="PATH", help="tests that may notice a mutant, too")
    options = parser.parse_args(arguments)
    files = [
        str(path.relative_to(ROOT))
        for name in options.file
        for path in (sorted((ROOT / name).glob("*.?pp")) if (ROOT / name).is_dir() else [ROOT / name])
    ]
    with tempfile.TemporaryDirectory(prefix="spillway-core-mutants-") as folder:
        tree = BuiltTree(Path(folder), options.tests)
        counts, left = run(tree, files, options.sample, options.minutes, Random(options.seed), options.first)
    print(", ".join(f"{outcome} {count}" for outcome, count in counts.most_common()))
    by_file = Counter(mutant.name for mutant in left)
    print("\n".join(f"{name}: {count} not noticed" for name, count in by_file.most_common()))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
