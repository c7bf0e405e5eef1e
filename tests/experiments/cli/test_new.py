"""``spillway new``: what it writes is registered, keeps the rules of style, and its own test passes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spillway.experiments.cli.new import ROOT

NOT_COPIED = (".venv", ".git", "build", "docs", "tests", "results", "*.cpp", "*.hpp")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working copy of what is needed."""
    folder = tmp_path_factory.mktemp("copies") / "copy"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
    for name in ("schedulers/policies", "schedulers/jobmodels", "experiments/studies"):
        (folder / "tests" / name).mkdir(parents=True)
    return folder


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """This interpreter in the copy, with the copy's code."""
    environment = os.environ | {"PYTHONPATH": str(copy)}
    return subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )


NEW = """
import sys
from spillway.experiments.cli import main

for kind, name in zip(sys.argv[1::2], sys.argv[2::2]):
    print(main(["new", kind, name]), flush=True)
"""
"""The commands one after another: most of the time of each is that of starting."""

NAMES = {"policy": "shortest-queue", "model": "zoo", "study": "my-question"}


@pytest.mark.slow
def test_what_is_written_passes_its_own_test(copy: Path) -> None:
    """The registered names are found, ruff has nothing to say, pytest passes; a second time nothing is written."""
    given = [word for kind in NAMES.items() for word in kind]
    made = run(copy, "-c", NEW, *given).stdout.splitlines()
    assert [line for line in made if line.isdigit()] == ["0"] * 3
    every = [line for line in made if line.endswith(".py") and " " not in line]
    assert len(every) == 9
    for check in (["check"], ["format", "--check"]):
        checked = run(copy, "-m", "ruff", *check, *every)
        assert checked.returncode == 0, checked.stdout
    tested = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", *every[1::3])
    assert tested.returncode == 0, tested.stdout
    before = [(copy / path).read_text(encoding="utf-8") for path in every]
    again = run(copy, "-c", NEW, *given)
    assert [line for line in again.stdout.splitlines() if line.isdigit()] == ["2"] * 3
    assert again.stderr.count("there is a file") == 3
    assert [(copy / path).read_text(encoding="utf-8") for path in every] == before
