"""``spillway new policy|model|study NAME``: a small one that runs, its line in the table, and a test of it."""

from __future__ import annotations

import argparse
import keyword
import re
from dataclasses import dataclass
from pathlib import Path
from string import Template

from spillway.base.arguments import Parser, tell
from spillway.base.durable import write_text
from spillway.experiments.run.errors import SpecError

HELP = "begin a policy, a model or a study in the working copy: file, line in the table, test"
EXAMPLES = """
spillway new policy shortest-queue
spillway new model diffusion
"""

ROOT = Path(__file__).resolve().parents[2]
"""The working copy; a wheel's folders are elsewhere, and have no tests."""


SKELETONS = Path(__file__).with_name("skeletons")
"""Contents of a new policy, model or study (``policy.txt``), and of its test (``policy-test.txt``)."""


@dataclass(frozen=True)
class Skeleton:
    """Places of a new policy, model or study.

    Attributes
    ----------
    folder
        Folder of its file; its test is in the folder of the same name below ``tests``.
    home
        File that registers it.
    table
        Name of the table there.
    row
        Its line in the table.
    imported
        Line that ``home`` needs before its table, if any.
    """

    folder: str
    home: str
    table: str
    row: str
    imported: str = ""


_KINDS = {
    "policy": Skeleton(
        "schedulers/policies",
        "schedulers/policies/__init__.py",
        "POLICIES",
        '    "$name": PolicyEntry("$module:$cls", "every job that fits starts, in order of submission"),\n',
    ),
    "model": Skeleton(
        "schedulers/jobmodels",
        "schedulers/jobmodels/__init__.py",
        "MODELS",
        '    "$name": $cls,\n',
        "from spillway.schedulers.jobmodels.$module import $cls\n",
    ),
    "study": Skeleton(
        "experiments/studies",
        "experiments/studies/catalogue.py",
        "STUDIES",
        '    "$name": "$words: say what it asks",\n',
    ),
}


def add_arguments(parser: Parser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("kind", choices=tuple(_KINDS), metavar="KIND", help=f"one of {', '.join(_KINDS)}")
    parser.add_argument("name", metavar="NAME", help="its name on the command line: lower case, words joined by dashes")


def command(options: argparse.Namespace) -> int:
    """Write the files, and say what to do next."""
    for path in begin(options.kind, options.name):
        tell(path.relative_to(ROOT))
    tell(f"its test: .venv/bin/python -m pytest {begin_test(options.kind, options.name)}")
    return 0


def begin_test(kind: str, name: str) -> str:
    """Path of the test of a policy, model or study, from the working copy's folder."""
    return f"tests/{_KINDS[kind].folder}/test_{name.replace('-', '_')}.py"


def begin(kind: str, name: str) -> list[Path]:
    """Write the file of a policy, model or study, its test and its line in the table; return the three paths.

    Raises
    ------
    SpecError
        The name cannot be one, or is taken; or this is no working copy. Nothing is written then.
    """
    what, module = _KINDS[kind], name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name) or keyword.iskeyword(module):
        raise SpecError(f"expected a name of lower-case words joined by dashes, such as shortest-first, got {name!r}")
    home = ROOT / what.home
    if not (ROOT / "tests" / what.folder).is_dir():
        raise SpecError(
            f"'spillway new' writes into a working copy of the repository, and {str(ROOT)!r} is none; outside of one, "
            f"write a file of your own and name it (docs/studies.md, docs/adding-a-*.md)"
        )
    fill = {
        "name": name,
        "module": module,
        "cls": name.title().replace("-", ""),
        "words": name.replace("-", " ").capitalize(),
    }
    files = {
        ROOT / what.folder / f"{module}.py": SKELETONS / f"{kind}.txt",
        ROOT / begin_test(kind, name): SKELETONS / f"{kind}-test.txt",
    }
    contents = {path: Template(text.read_text(encoding="utf-8")).substitute(fill) for path, text in files.items()}
    text = home.read_text(encoding="utf-8")
    start = re.search(rf"^{what.table}\b.*{{$", text, re.MULTILINE)
    if start is None:
        raise SpecError(f"{what.home} has no table {what.table} = {{...}} any more; register {name!r} by hand")
    end = text.index("\n}\n", start.end()) + 1
    taken = [str(path.relative_to(ROOT)) for path in files if path.exists()]
    if taken or f'"{name}":' in text[start.end() : end]:
        raise SpecError(f"there is {'a file' if taken else f'a {kind}'} {taken[0] if taken else name!r} already")
    row, imported = (Template(part).substitute(fill) for part in (what.row, what.imported))
    before = text[: start.start()]
    if imported:  # where the other imports of this folder are, in order
        lines = before.splitlines(keepends=True)
        package = imported.rpartition(".")[0]
        place = max(i for i, line in enumerate(lines) if line.startswith(package) and line < imported)
        before = "".join([*lines[: place + 1], imported, *lines[place + 1 :]])
    contents[home] = before + text[start.start() : end] + row + text[end:]
    for path, content in contents.items():
        write_text(path, content)
    return list(contents)
