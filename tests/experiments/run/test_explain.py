"""``explain`` looks at folders that others made: nothing in them is believed that would reach beyond them."""

import importlib.metadata
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from spillway.experiments.cli import main
from spillway.experiments.run import manifest
from tests.kit.runs import play_run

WORKLOAD = {
    "nb_res": 4,
    "jobs": [{"id": f"{n}\x1b[31m\x07", "subtime": 0, "res": 4, "walltime": 20, "profile": "p"} for n in range(2)],
    "profiles": {"p": {"type": "delay", "delay": 10}},
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run's folder."""
    return play_run(tmp_path, WORKLOAD, "--platform", "tiny", "--policy", "fcfs")


def changed(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a run's description, and seal the folder anew."""
    record = json.loads((folder / "run.json").read_text())
    change(record["configuration"])
    (folder / "run.json").write_text(json.dumps(record))
    (folder / "manifest.json").unlink()
    manifest.seal(folder)


def test_another_runs_id_reaches_no_other_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An id with ``../`` replaced a folder outside, and deleted its contents."""
    victim = folder.parent.parent / "victim"
    victim.mkdir()
    (victim / "thesis.tex").write_text("four years")
    changed(folder, lambda run: run.update(id=f"../{'../' * 20}{victim}"))
    assert main(["explain", str(folder), "1\x1b[31m\x07"]) == 2
    assert "its run.json is of another run" in capsys.readouterr().err
    assert (victim / "thesis.tex").read_text() == "four years"


def test_inputs_lie_in_the_campaign(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No path of a description leaves its campaign's folder."""
    changed(folder, lambda run: run["workload"].update(path="../w.json"))
    assert main(["explain", str(folder), "1\x1b[31m\x07"]) == 2
    assert "names an input outside of its campaign" in capsys.readouterr().err


POLICY = """\
from dataclasses import dataclass

from order_of_mine import shortest_first

from spillway.schedulers.policykit.passes import try_start


@dataclass(frozen=True)
class Mine:
    def __call__(self, view):
        for job in shortest_first(view.queue):
            start = try_start(view, job)
            if start is not None:
                yield start
"""


def test_a_moved_folder_has_all_that_its_runs_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Failed before: explain looked for the policy at its old place, and the files that it imports were not copied."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "mine.py").write_text(POLICY)
    (tmp_path / "own" / "order_of_mine.py").write_text(
        "def shortest_first(jobs):\n    return sorted(jobs, key=lambda job: job.walltime_s)\n"
    )
    (tmp_path / "w.json").write_text(json.dumps(WORKLOAD))
    played = ["--platform", "tiny", "--no-plots", "--policy", f"{tmp_path / 'own' / 'mine.py'}:Mine"]
    assert main(["run", "--workload", str(tmp_path / "w.json"), *played, "--out", str(tmp_path / "out")]) == 0
    (tmp_path / "out").rename(tmp_path / "moved")
    (tmp_path / "own").rename(tmp_path / "gone")
    (tmp_path / "w.json").unlink()
    (folder,) = (path.parent for path in (tmp_path / "moved").glob("*/run.json"))
    forget_outside()
    assert main(["explain", str(folder), WORKLOAD["jobs"][1]["id"], "--trust"]) == 0  # type: ignore[index]
    monkeypatch.chdir(tmp_path / "moved")
    forget_outside()
    again = shlex.split(json.loads((folder / "run.json").read_text())["repeat"])
    assert again[:2] == ["spillway", "run"]
    assert not any(str(tmp_path) in word or word.startswith("/") for word in again)
    assert main(again[1:]) == 0
    (repeated,) = Path("repeated").glob("*/jobs.csv")
    assert repeated.read_bytes() == (folder / "jobs.csv").read_bytes()
    installed = Path("environment.txt").read_text().splitlines()
    assert installed[0].startswith("# Python 3.")
    stated = {(package.metadata["Name"], package.version) for package in importlib.metadata.distributions()}
    assert set(installed[1:]) == {f"{name}=={version}" for name, version in stated if name}


def forget_outside() -> None:
    """Begin as a new process does."""
    for name in [name for name in sys.modules if name.startswith("outside_") or name == "order_of_mine"]:
        del sys.modules[name]


def test_what_a_terminal_would_obey_is_written_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """ESC and BEL in a job's id."""
    assert main(["explain", str(folder), "1\x1b[31m\x07"]) == 0
    said = capsys.readouterr()
    assert "\\x1b[31m\\x07" in said.out
    assert not {"\x1b", "\x07"} & {*said.out, *said.err}
