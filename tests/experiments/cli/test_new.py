"""``spillway new``: what it writes is registered, keeps the rules of style, and its own test passes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.cli.new import ROOT

NOT_COPIED = (".venv", ".git", "build", "docs", "tests", "results", "__pycache__", "*.cpp", "*.hpp")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working copy of what is needed."""
    folder = tmp_path_factory.mktemp("copies") / "copy"
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED), symlinks=True)
    for name in ("schedulers/policies", "schedulers/jobmodels", "experiments/studies"):
        (folder / "tests" / name).mkdir(parents=True)
    return folder


def run(copy: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A program of this environment in the copy, with the copy's code."""
    environment = os.environ | {"PYTHONPATH": str(copy)}
    return subprocess.run(
        [sys.executable, "-m", *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_what_is_written_passes_its_own_test(copy: Path) -> None:
    """The registered names are found, ruff has nothing to say, pytest passes; a second time nothing is written."""
    written: dict[tuple[str, str], list[str]] = {}
    for kind, name in (("policy", "shortest-queue"), ("model", "zoo"), ("study", "my-question")):
        done = run(copy, "spillway.experiments.cli", "new", kind, name)
        assert done.returncode == 0, done.stderr
        written[kind, name] = [line for line in done.stdout.splitlines() if line.endswith(".py") and " " not in line]
        assert len(written[kind, name]) == 3
    every = [path for paths in written.values() for path in paths]
    for check in (["check"], ["format", "--check"]):
        checked = run(copy, "ruff", *check, *every)
        assert checked.returncode == 0, checked.stdout
    tested = run(copy, "pytest", "-q", "-p", "no:cacheprovider", *(paths[1] for paths in written.values()))
    assert tested.returncode == 0, tested.stdout
    before = [(copy / path).read_text(encoding="utf-8") for path in every]
    for kind, name in written:
        again = run(copy, "spillway.experiments.cli", "new", kind, name)
        assert again.returncode == 2
        assert "there is a file" in again.stderr
    assert [(copy / path).read_text(encoding="utf-8") for path in every] == before


@pytest.mark.parametrize("name", ["Shortest", "a_b", "../a", "class", "-a", ""])
def test_a_name_that_cannot_be_one(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Refused with an example, before anything is written."""
    assert main(["new", "policy", "--", name]) == 2
    assert "lower-case words joined by dashes" in capsys.readouterr().err
