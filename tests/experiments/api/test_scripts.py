"""Policies of scripts: the values that they use, the lines of their errors, and what cannot be one."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import spillway as sw
from spillway.experiments.api.scripts import module_of
from spillway.experiments.cli import main

HEAD = """
import pathlib, random
from dataclasses import dataclass
import spillway as sw
from spillway.schedulers.policykit.history import Usage
from spillway.schedulers.policykit.passes import fill
"""


def played(
    text: str, folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A script of a folder, run from another one."""
    script, elsewhere = folder / "own.py", folder / "elsewhere"
    elsewhere.mkdir()
    script.write_text(HEAD + text)
    command = [sys.executable, *arguments, str(script)]
    given = {**os.environ, **(environment or {})}
    return subprocess.run(command, cwd=elsewhere, env=given, capture_output=True, text=True, check=False)


VALUES = """
class Scale:
    def __init__(self, factor):
        self.factor = factor
    def __call__(self, job):
        return -self.factor * job.nodes

DRAWN = random.Random().random()
HERE = pathlib.Path(__file__).parent
TABLE = {}
SCALE = Scale(1)
NONE = Usage()
NAMES = {"b", "a"}
MADE = lambda: ["1"]  # cannot be written: made again
LIMIT = None

def prepare():
    global LIMIT
    LIMIT = 3
    TABLE["size"] = (1, 2.5)
    SCALE.factor = 2

FIRST = sw.compare("kth-like:jobs=3", "fcfs", machine="tiny", engine="fixed").runs[0]["jobs"]

def mine(view):
    found = (DRAWN, str(HERE), TABLE, SCALE.factor, sorted(NAMES), MADE(), LIMIT, FIRST, NONE.node_seconds, K)
    (HERE / "seen").write_text(repr(found))
    yield from fill(view, sorted(view.queue, key=SCALE))

prepare()
for K in (1, 2):
    done = sw.compare("kth-like:jobs=5", mine, machine="tiny", engine="fixed")
    seen = (HERE / "seen").read_text()
    print(seen == repr((DRAWN, str(HERE), TABLE, 2, ["a", "b"], ["1"], 3, FIRST, 0.0, K)), done.runs[0]["policy"])
"""


def test_a_policy_sees_the_values_that_its_script_has(tmp_path: Path) -> None:
    """Constants were made again from their statements: another random number, no file beside, no change by a
    function (silently); a constant from a comparison, or changed by a loop that compares, was refused.
    """
    done = played(VALUES, tmp_path)
    assert (done.returncode, done.stdout) == (0, "True mine\n" * 2), done.stderr


FUNCTION = """
def mine(view):
    yield from fill(view, view.queue)

@dataclass(frozen=True)
class Mine:
    def __call__(self, view):
        yield from fill(view, view.queue)

if __name__ == "__main__":
    runs = sw.compare("kth-like:jobs=60", [mine, Mine, "filler"], workers=2).runs
    print(*(row["policy"] for row in runs), len({row["mean_waiting_time_s"] for row in runs}))
"""


def test_a_function_is_a_policy_as_a_class_is(tmp_path: Path) -> None:
    """Functions were refused, although "a policy is a function of its view"; also by name on the command line."""
    done = played(FUNCTION, tmp_path)
    assert (done.returncode, done.stdout) == (0, "mine Mine filler 1\n"), done.stderr
    given = ["run", "kth-like:jobs=5", "--platform", "tiny", "--engine", "fixed", "--no-plots", "--policy"]
    assert main([*given, f"{tmp_path / 'own.py'}:mine", "--out", str(tmp_path / "out")]) == 0


POOL = """
import multiprocessing

@dataclass(frozen=True)
class Mine:
    def __call__(self, view):
        yield from fill(view, view.queue)

def play(seed):
    return len(sw.compare("kth-like:jobs=9", [Mine, "fcfs"], seeds=[seed], engine="fixed").runs)

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(play, [0, 1]))
"""


def test_a_class_of_a_script_in_a_pool_that_spawns(tmp_path: Path) -> None:
    """Failed: the module '__mp_main__' is not found; and processes of a pool may start no others, so that they play."""
    done = played(POOL, tmp_path)
    assert (done.returncode, done.stdout) == (0, "[2, 2]\n"), done.stderr


def words_of(text: str, name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The error of a comparison under what a notebook's cell defines."""
    module = type(sys)("__main__")
    module.In = [HEAD + text]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__main__", module)
    exec(HEAD + text, vars(module))
    with pytest.raises(sw.SpillwayError) as caught:
        sw.compare("kth-like:jobs=9", [vars(module)[name]], engine="fixed")
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("    1 / 0\n    yield", "ZeroDivisionError: division by zero (mine.py, line 7: 1 / 0)"),
        ("    sorted(view.queue, key=helper)\n    yield", "no attribute 'nodess' (mine.py, line 4: return job.nodess)"),
        ("    view.queue[0].nodes = 1\n    yield", "line 7: view.queue[0].nodes = 1"),
        ("    pass", "decision refused: a policy must yield decisions, its call returned None: has it no yield?"),
        ("    return 5", "its call returned an int: 5"),
    ],
)
def test_a_fault_of_a_policy_has_its_line(text: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the type and text of the exception were given, or "'NoneType' object is not iterable"."""
    text = f"def helper(job):\n    return job.nodess\n\ndef mine(view):\n{text}\n"
    assert words.partition("line")[0] in (found := words_of(text, "mine", monkeypatch))
    assert words.rpartition(": ")[2] in found


@pytest.mark.parametrize("kind", ["yield", "return ()"])
def test_an_async_policy_is_told_so(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """'async_generator' object is not iterable; a coroutine warned as well."""
    assert "write 'def', not 'async def'" in words_of(f"async def mine(view):\n    {kind}\n", "mine", monkeypatch)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mine = lambda view: ()", "a lambda has no name"),
        ("import functools\ndef f(view, n): ...\nmine = functools.partial(f, n=1)", "its values as options"),
        ("class mine:\n    def __call__(self, view): ...", "policy mine must be a frozen dataclass"),
        ("class Mine:\n    def __call__(self, view): ...\nmine = Mine()", "write a function, or a frozen dataclass"),
        ("def make():\n    def own(view): ...\n    return own\nmine = make()", "policy own: it is defined in make"),
        ("def own(view): ...\nmine = own\ndef own(view): ...", "its name is bound to something else by now"),
    ],
)
def test_what_no_process_can_find_is_refused(text: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last took the other definition of the name, silently."""
    assert words in words_of(text, "mine", monkeypatch)


def cells(texts: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A notebook with these cells."""
    module = type(sys)("__main__")
    module.In = texts  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "__main__", module)
    return vars(module)


def test_a_class_below_a_magic_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cell that begins with %%time was unknown."""
    text = "def mine(view):\n    return K, STEPS\n"
    names = cells([f"get_ipython().run_cell_magic('time', '', {text!r})", "STEPS = [*map(int, '12')]"], monkeypatch)
    exec(text, names)
    names |= {"K": 4.0, "STEPS": [1, 2]}
    found: dict[str, Any] = {"__name__": "own"}
    exec(module_of(names["mine"]), found)
    assert found["mine"](None) == (4.0, [1, 2])


MODULE = """
from spillway.schedulers.policykit.passes import fill

SCALE = {"by": 1}
FIRST, SECOND = 1, 2

def mine(view):
    yield from fill(view, sorted(view.queue, key=lambda job: SCALE["by"] * job.nodes))
"""
CHANGES = {
    "in part": "import own_module\nmine = own_module.mine\ndef change(by): own_module.SCALE['by'] = by\n",
    "a table": "import own_module\nmine = own_module.mine\ndef change(by): own_module.SCALE = {'by': by}\n",
    "of a package": (
        "from package import inner\nmine = inner.mine\ndef change(by): inner.own_module.SCALE['by'] = by\n"
    ),
    "below": (
        "import own_module\ndef change(by): own_module.SCALE['by'] = by\n"
        "def mine(view): yield from own_module.mine(view)\n"
    ),
}
COMPARED = """
def waits(policies, **how):
    runs = sw.compare("kth-like:jobs=300", policies, machine="tiny", **how).runs
    return [row["mean_waiting_time_s"] for row in runs if row["policy"] == "mine"]

if __name__ == "__main__":
    change(-1)
    changed = waits(mine), waits([mine, "fcfs"], workers=2)
    change(1)
    print(changed[0] == changed[1], changed[0] != waits(mine), waits(mine) == waits([mine, "fcfs"], workers=2))
"""


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_constant_of_a_module_counts_in_every_process(change: str, tmp_path: Path) -> None:
    """One run had the changed value, several had that of the file, in silence."""
    (tmp_path / "own_module.py").write_text(MODULE)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "own_module.py").write_text(MODULE)
    (tmp_path / "package" / "inner.py").write_text("from . import own_module\nfrom .own_module import mine\n")
    done = played(CHANGES[change] + COMPARED, tmp_path)
    assert (done.returncode, done.stdout) == (0, "True True True\n"), done.stderr


def test_a_changed_constant_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    """Its file says 1; a generator is in this process only."""
    (tmp_path / "own_module.py").write_text(MODULE + "DEPTH: int = 1\n")
    text = "import own_module\nown_module.DEPTH = iter(())\nsw.compare('kth-like:jobs=9', own_module.mine)\n"
    assert "own_module.DEPTH is <tuple_iterator" in (said := played(text, tmp_path).stderr)
    assert "not what its file says, which other processes import" in said


def test_policies_of_one_name_have_labels() -> None:
    """'two policies are called ...' said that each needs a label, and there was no way to give one."""
    with pytest.raises(sw.SpillwayError, match=r"two policies are called 'easy'.*\{'first': "):
        sw.compare("kth-like:jobs=9", ["easy", "easy"], machine="tiny", engine="fixed")
    named = {"shallow": "easy", "deep": sw.policy("easy", depth=2), "none": "filler"}
    runs = sw.compare("kth-like:jobs=9", named, machine="tiny", engine="fixed").runs
    assert [row["policy"] for row in runs] == list(named)
    with pytest.raises(sw.SpillwayError, match="expected names as the keys"):
        sw.compare("kth-like:jobs=9", {1: "easy"}, machine="tiny", engine="fixed")
