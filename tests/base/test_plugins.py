"""External classes: specifications are split, files are loaded, and errors are reported with their line."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spillway.base.errors import OptionError
from spillway.base.options import build
from spillway.base.plugins import is_outside, load_class, split_spec
from tests.kit.cases import cases


@pytest.fixture(autouse=True)
def _forget_helper() -> Iterator[None]:
    """Modules of one test are not those of another."""
    yield
    sys.modules.pop("helper_of_mine", None)


GOOD = """\
from __future__ import annotations

from dataclasses import dataclass

from spillway.base.options import option


@dataclass(frozen=True)
class Greedy:
    depth: int = option(1, low=0, help="how many")

    def __call__(self, view):
        return ()
"""


@pytest.mark.parametrize(("text", "name", "options"), [
    ("io", "io", {}),
    ("io:max-phases=3", "io", {"max_phases": "3"}),
    ("io:a=1, b=x:y", "io", {"a": "1", "b": "x:y"}),
    ("io:file=other.py:Class", "io", {"file": "other.py:Class"}),
    ("mine.py:Greedy", "mine.py:Greedy", {}),
    ("./some dir/mine.py:Greedy:depth=3", "./some dir/mine.py:Greedy", {"depth": "3"}),
    ("package.module:Greedy:depth=3,b=p=q", "package.module:Greedy", {"depth": "3", "b": "p=q"}),
    ("mine.py", "mine.py", {}),
    (" io ", "io", {}),
])  # fmt: skip
def test_a_specification_is_split(text: str, name: str, options: dict[str, str]) -> None:
    """Name and texts; a value may hold colons and equals signs."""
    assert split_spec(text) == (name, options)


@pytest.mark.parametrize(("text", "words"), [
    ("", "NAME"),
    (":a=1", "NAME"),
    ("=1", "NAME"),
    ("io:", "after the last colon"),
    ("mine.py:Greedy:", "after the last colon"),
    ("io:a=1,b", "key=value"),
    ("io:a=1,a=2", "twice"),
])  # fmt: skip
def test_a_wrong_specification_is_refused(text: str, words: str) -> None:
    """The error states the expected form."""
    with pytest.raises(OptionError, match=words):
        split_spec(text)


def test_a_name_that_says_where_a_class_stands() -> None:
    """As against a name of a table."""
    assert all(map(is_outside, ("mine.py:Greedy", "package.module:Greedy", "mine.py")))
    assert not is_outside("plan-square")


def test_a_class_is_loaded_from_a_file(tmp_path: Path) -> None:
    """It works like a built-in class."""
    file = tmp_path / "mine.py"
    file.write_text(GOOD)
    greedy = load_class(f"{file}:Greedy", "policy", methods=("__call__",))
    assert build(greedy, {"depth": "3"}).depth == 3


def test_the_same_file_gives_the_same_class_until_it_is_changed(tmp_path: Path) -> None:
    """Also when the change keeps length and time of the file: no bytecode of before is taken."""
    file = tmp_path / "mine.py"
    file.write_text(GOOD)
    first = load_class(f"{file}:Greedy", "policy")
    assert load_class(f"{file}:Greedy", "policy") is first
    file.write_text(GOOD.replace("option(1", "option(2"))
    assert build(load_class(f"{file}:Greedy", "policy"), {}).depth == 2
    assert build(first, {}).depth == 1


WITH_HELPER = GOOD.replace("from dataclasses", "from helper_of_mine import DEPTH\nfrom dataclasses").replace(
    "(1,", "(DEPTH,"
)


def test_a_file_imports_its_neighbours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Failed before unless the folder was on Python's path. A changed neighbour is a new class.

    Our own modules are no neighbours. A change within a second that keeps the length counts, too: stale bytecode would
    pass for that of the new text.
    """
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    (tmp_path / "mine.py").write_text(WITH_HELPER)
    (tmp_path / "spillway").mkdir()
    (tmp_path / "spillway" / "__init__.py").touch()
    for depth in (4, 5):
        (tmp_path / "helper_of_mine.py").write_text(f"DEPTH = {depth}\n")
        greedy = load_class(f"{tmp_path / 'mine.py'}:Greedy", "policy")
        assert build(greedy, {}).depth == depth
        assert load_class(f"{tmp_path / 'mine.py'}:Greedy", "policy") is greedy
    assert str(tmp_path) not in sys.path


def test_neighbours_of_one_name_in_two_folders_are_refused(tmp_path: Path) -> None:
    """Python identifies a module by its name only: the second policy would silently get the first one's."""
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(WITH_HELPER)
        (tmp_path / folder / "helper_of_mine.py").write_text("DEPTH = 4\n")
    load_class(f"{tmp_path / 'a' / 'mine.py'}:Greedy", "policy")
    with pytest.raises(
        OptionError, match=r"helper_of_mine' is loaded from .*a/helper_of_mine.py already; rename one of"
    ):
        load_class(f"{tmp_path / 'b' / 'mine.py'}:Greedy", "policy")


def test_files_that_hold_no_text(tmp_path: Path) -> None:
    """A pipe was waited for; a zero byte was "line None"."""
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "zero.py").write_bytes(b"a = 1\0")
    for name, words in (("pipe", "cannot be read: it is a pipe"), ("zero", r"zero\.py: source code string cannot")):
        with pytest.raises(OptionError, match=words):
            load_class(str(tmp_path / f"{name}.py"), "policy")


def test_a_class_is_loaded_from_a_module() -> None:
    """A module that Python can import needs no path."""
    cls = load_class("spillway.schedulers.policies.backfill:Backfill", "policy")
    assert cls.__name__ == "Backfill"


@pytest.mark.parametrize(
    ("content", "words"),
    cases("plugins"),
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, content: str, words: str) -> None:
    """An error of ours that names file and line; the module is not kept."""
    file = tmp_path / "mine.py"
    file.write_text(content)
    before = {name for name in sys.modules if name.startswith("outside_")}
    with pytest.raises(OptionError, match=words) as caught:
        load_class(f"{file}:Greedy", "policy", methods=("__call__",))
    assert str(caught.value).startswith("policy ")
    if "line" in words:
        assert {name for name in sys.modules if name.startswith("outside_")} == before


@pytest.mark.parametrize(("text", "words"), [
    ("mine.py", "No such file"),
    ("mine", "expected FILE.py:CLASS or MODULE:CLASS"),
    ("mine.py:", "expected FILE.py:CLASS or MODULE:CLASS"),
    ("no_such_file.py:Greedy", "No such file"),
    ("no_such_module:Greedy", "module 'no_such_module' is not found"),
    ("no_such.module:Greedy", "module 'no_such.module' is not found"),
    ("spillway.schedulers.policies.backfill:Backfil", "did you mean 'Backfill'"),
])  # fmt: skip
def test_what_is_not_there_is_said(text: str, words: str) -> None:
    """Missing files, modules and classes."""
    with pytest.raises(OptionError, match=words):
        load_class(text, "policy")


BASE = GOOD.replace("Greedy", "_Base") + "\n\n@dataclass(frozen=True)\nclass Greedy(_Base):\n    pass\n"


@pytest.mark.parametrize("content", [GOOD, BASE, GOOD + "\nclass Helper:\n    pass\n\nALIAS = Greedy\n"])
def test_a_file_with_one_policy_needs_no_class(tmp_path: Path, content: str) -> None:
    """Classes with names that begin with _ and classes of other kinds are ignored."""
    file = tmp_path / "mine.py"
    file.write_text(content)
    found = load_class(str(file), "policy", methods=("__call__",))
    assert found is load_class(f"{file}:Greedy", "policy")
    assert split_spec(f"{file}:depth=3") == (str(file), {"depth": "3"})


@pytest.mark.parametrize(("content", "words"), [
    (GOOD + GOOD.replace("Greedy", "Other").partition("option\n")[2],
     "has 2 classes, Greedy, Other: say .*mine.py:Greedy"),
    ("class Greedy:\n    pass\n", "no frozen dataclass with a method __call__; its classes are Greedy"),
    ("x = 1\n", "no frozen dataclass with a method __call__; it has no class of its own"),
])  # fmt: skip
def test_a_file_with_none_or_several_policies_names_them(tmp_path: Path, content: str, words: str) -> None:
    """In one line."""
    file = tmp_path / "mine.py"
    file.write_text(content)
    with pytest.raises(OptionError, match=words):
        load_class(str(file), "policy", methods=("__call__",))
