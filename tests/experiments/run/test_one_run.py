"""One run is played in the process of the command; several, in processes of their own, also from a plain script."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from spillway.experiments.campaign.workers import pool
from spillway.experiments.campaign.workers.pool import News, Pool, Progress, Report, RunEnd, RunFailure, RunStart
from spillway.experiments.cli import main
from tests.kit.tables import csv_rows

ROOT = Path(__file__).parents[2]

NOTING = """
from __future__ import annotations
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from spillway.base.options import option
from spillway.schedulers.model.decisions import Decision
from spillway.schedulers.policykit.passes import try_start
from spillway.schedulers.policykit.view import View

@dataclass(frozen=True)
class Noting:
    \"\"\"First come first served; writes down in which process that is.\"\"\"

    number: int = option(0, low=0, help="which of several")

    def __call__(self, view: View) -> Iterable[Decision]:
        Path(__file__).with_name(f"pid-{self.number}").write_text(str(os.getpid()))
        for job in view.queue:
            if (start := try_start(view, job)) is None:
                return
            yield start
"""

SMALL = ["run", "--workload", "kth-like:jobs=5", "--platform", "tiny", "--engine", "fixed", "--no-plots"]


@pytest.fixture
def noting(tmp_path: Path) -> str:
    """A policy that notes its process in files beside it."""
    path = tmp_path / "noting.py"
    path.write_text(NOTING)
    return f"{path}:Noting"


def pids(folder: Path) -> list[int]:
    """Processes that the policy was called in, by its number."""
    return [int(path.read_text()) for path in sorted(folder.glob("pid-*"))]


def test_one_run_is_played_in_this_process(noting: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No other process is started for it, nor one that loads modules for such."""
    monkeypatch.setattr(pool, "_ensure_server", lambda _: pytest.fail("a process was started"))
    assert main([*SMALL, "--policy", noting, "--out", str(tmp_path / "out")]) == 0
    assert pids(tmp_path) == [os.getpid()]


def test_several_runs_have_processes_of_their_own(noting: str, tmp_path: Path) -> None:
    """The last one left, when the same command continues, runs in this process."""
    policies = [f"--policy={noting}:number={number}" for number in range(2)]
    given = [*SMALL, *policies, "--out", str(tmp_path / "out")]
    assert main(given) == 0
    first, second = pids(tmp_path)
    assert len({first, second, os.getpid()}) == 3
    (tmp_path / "out" / csv_rows(tmp_path / "out" / "summary.csv")[1]["run"] / "jobs.csv").unlink()
    assert main(given) == 0
    assert pids(tmp_path) == [first, os.getpid()]


def test_both_ways_give_the_same_bytes(tmp_path: Path) -> None:
    """Each file of results is the same from any process."""
    policies = ["--policy=easy", "--policy=fcfs"]
    assert main([*SMALL, *policies, "--out", str(tmp_path / "both")]) == 0
    assert main([*SMALL, policies[0], "--out", str(tmp_path / "one")]) == 0
    (one,), (other,) = ((tmp_path / name).glob("*_easy_*") for name in ("one", "both"))
    assert one.name == other.name
    names = {path.name for path in one.iterdir()}
    assert names == {path.name for path in other.iterdir()}
    for name in names - {"timings.json", "manifest.json"}:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def fail(task: str, report: Report) -> None:
    """Do the action in the task's name."""
    report(Progress(1.0, 0, 1, 1))
    if task == "raise":
        raise ValueError("what came was wrong")
    if task == "exit":
        sys.exit(3)
    if task == "stop":
        raise KeyboardInterrupt


def test_how_a_run_here_ends() -> None:
    """News come one by one; an error and an exit are failures with a cause, and Ctrl-C is everybody's."""
    heard: list[News] = []
    Pool(fail, 1).run_here("ok", heard.append)
    assert heard == [RunStart(), Progress(1.0, 0, 1, 1), RunEnd()]
    Pool(fail, 1).run_here("raise", heard.append)
    assert isinstance(heard[-1], RunFailure)
    assert heard[-1].cause.startswith("ValueError: what came was wrong (test_one_run.py, line ")
    Pool(fail, 1).run_here("exit", heard.append)
    assert heard[-1] == RunFailure("its process ended early, with exit code 3")
    with pytest.raises(KeyboardInterrupt):
        Pool(fail, 1).run_here("stop", heard.append)


def test_a_plain_script_needs_no_main_guard(tmp_path: Path) -> None:
    """Worker processes do not run the script of their parent again, which would begin anew there, and fail."""
    given = [*SMALL, "--policy=easy", "--policy=fcfs", "--out", str(tmp_path / "out")]
    script = tmp_path / "mine.py"
    script.write_text(
        f"import sys\nfrom spillway.experiments.cli import main\nprint('once')\nsys.exit(main({given!r}))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("once") == 1
    assert [row["policy"] for row in csv_rows(tmp_path / "out" / "summary.csv")] == ["easy", "fcfs"]


@pytest.mark.parametrize("engine", ["fixed", "fluid"])
def test_nothing_is_loaded_that_is_not_used(engine: str, tmp_path: Path) -> None:
    """A run without figures, clusters and proofs loads no package for them."""
    script = (
        "import sys\nfrom spillway.experiments.cli import main\n"
        "code = main(sys.argv[1:])\nprint('LOADED', *sys.modules)\nsys.exit(code)\n"
    )
    given = ["run", "--workload", "kth-like:jobs=5", "--policy", "easy", "--no-plots", "--engine", engine]
    done = subprocess.run(
        [sys.executable, "-c", script, *given, "--out", str(tmp_path / "out")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    loaded = set(done.stdout.rpartition("LOADED")[2].split())
    slow = {"matplotlib", "seaborn", "pandas", "scipy", "dask", "distributed", "z3", "zmq", "ssl", "pycparser"}
    slow |= {"networkx", "PIL", "requests", "docker", "pyarrow", "gymnasium", "IPython", "shtab"}
    assert not loaded & slow
