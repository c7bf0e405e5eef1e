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


@dataclass(frozen=True)
class Skeleton:
    """Contents of a new policy, model or study.

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
    text, test
        Contents of both files.
    imported
        Line that ``home`` needs before its table, if any.
    """

    folder: str
    home: str
    table: str
    row: str
    text: str
    test: str
    imported: str = ""


_POLICY = Skeleton(
    "schedulers/policies",
    "schedulers/policies/__init__.py",
    "POLICIES",
    '    "$name": PolicyEntry("$module:$cls", "every job that fits starts, in order of submission"),\n',
    '''"""$words: say which rule it is, and where it is from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.policykit.passes import try_start
from spillway.schedulers.policykit.view import View


@dataclass(frozen=True)
class $cls:
    """Start those of the first jobs that fit."""

    source: ClassVar[str] = "not from a paper"

    first: int = option(1000, unit="jobs", low=1, help="number of waiting jobs that are considered")

    def __call__(self, view: View) -> Iterable[Decision]:
        """Run one pass."""
        for job in view.queue[: self.first]:
            start = try_start(view, job)
            if start is not None:
                yield start
''',
    '''"""$words: the schedule that its rule gives."""

from __future__ import annotations

import spillway as sw
from spillway.experiments.cli import main


def test_it_keeps_the_rules_of_policies() -> None:
    """Drawn machines and jobs: nothing is started that does not fit, and every job ends."""
    assert main(["check-policy", "$name"]) == 0


def test_waits_are_those_of_its_rule() -> None:
    """As it was begun, it is ``filler``; state here what yours does."""
    runs = sw.compare("kth-like:jobs=60", ["filler", "$name"], seeds=1, progress=False).runs
    assert runs[0]["mean_waiting_time_s"] == runs[1]["mean_waiting_time_s"]
''',
)

_MODEL = Skeleton(
    "schedulers/jobmodels",
    "schedulers/jobmodels/__init__.py",
    "MODELS",
    '    "$name": $cls,\n',
    '''"""$words: say what its jobs do, and where that is from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from spillway.base.options import option
from spillway.schedulers.jobmodels.base import Compute, Granted, JobModel, Program
from spillway.schedulers.model.job import Job
from spillway.schedulers.model.machine import Machine


@dataclass(frozen=True)
class $cls(JobModel):
    """Jobs start up before they compute."""

    source: ClassVar[str] = "not from a paper"
    stages: ClassVar[tuple[str, ...]] = ("start-up", "compute")

    startup: float = option(10.0, unit="s", low=0.0, high=1e6, help="time before a job computes")

    def program(self, job: Job, granted: Granted, machine: Machine) -> Program:
        """Start up, then run the job's own profile."""
        yield Compute({"type": "delay", "delay": self.startup, "ret": 0}, stage="start-up")
        yield Compute(dict(job.profile))
''',
    '''"""$words: times of one job, worked out by hand."""

from __future__ import annotations

import spillway as sw

MODEL = "$name:startup=5"


def test_jobs_take_the_time_of_their_operations() -> None:
    """The same jobs with and without start-up: 5 s more each; state here what yours do."""
    plain, mine = sw.compare("kth-like:jobs=1", ["fcfs"], models=["rigid", MODEL], seeds=1, progress=False).runs
    assert abs(mine["mean_turnaround_time_s"] - plain["mean_turnaround_time_s"] - 5.0) < 1e-3
''',
    "from spillway.schedulers.jobmodels.$module import $cls\n",
)

_STUDY = Skeleton(
    "experiments/studies",
    "experiments/studies/catalogue.py",
    "STUDIES",
    '    "$name": "$words: say what it asks",\n',
    '''"""$words: say what it asks, and whose statements it judges."""

from __future__ import annotations

from spillway.experiments.studies import Claim, Product, Study, at_least, ratio

STUDY = Study(
    name="$name",
    title="$words",
    play=Product(),
    grids=[
        {
            "workload": ["kth-like:jobs=150"],
            "platform": ["thesis"],
            "policy": ["easy", "sjf-easy"],
            "seed": range(5),
        }
    ],
    claims=[
        Claim(
            name="shorter waits",
            place="our question",
            statement="mean wait under EASY is at least as long as with the shortest job first",
            region=at_least(1.0),
            measure=ratio("mean_waiting_time_s", {"policy": "easy"}, {"policy": "sjf-easy"}),
        ),
    ],
    quick={"workload": ["kth-like:jobs=40"], "seed": [0, 1]},
)
''',
    '''"""$words: its points are played and its statements judged."""

from __future__ import annotations

from pathlib import Path

from spillway.experiments.cli import main


def test_it_plays_and_judges(tmp_path: Path) -> None:
    """The quick points; state here the verdicts that do not change."""
    assert main(["study", "$name", "--quick", "--out", str(tmp_path)]) == 0
    assert "mean wait under EASY" in (tmp_path / "claims.csv").read_text(encoding="utf-8")
''',
)

_KINDS = {"policy": _POLICY, "model": _MODEL, "study": _STUDY}


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
        ROOT / what.folder / f"{module}.py": Template(what.text).substitute(fill),
        ROOT / begin_test(kind, name): Template(what.test).substitute(fill),
    }
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
    files[home] = before + text[start.start() : end] + row + text[end:]
    for path, content in files.items():
        write_text(path, content)
    return list(files)
