"""Nothing that another question, other code or another hand wrote is taken for a result without a word."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from spillway.experiments.campaign.folder import summary
from spillway.experiments.campaign.folder.reuse import (
    KeptResult,
    Validity,
    choose,
    digest,
    judge,
    keep,
    left,
    look,
    read,
)
from spillway.experiments.campaign.workers.pool import Pool
from spillway.experiments.cli import main
from spillway.experiments.run import codehash
from spillway.experiments.run.codehash import REPOSITORY, ROOT
from spillway.experiments.run.explain import explain
from spillway.experiments.run.folders import read_json
from spillway.experiments.run.single import execute
from spillway.experiments.run.spec import RunSpec
from spillway.experiments.studies.malleable import STUDY
from spillway.experiments.studies.runner import PointResults, play_points
from tests.kit.tables import csv_rows

CAMPAIGN = ["run", "--workload", "kth-like:jobs=60", "--policy", "easy", "--policy", "conservative", "--no-plots"]


@given(asked=st.booleans(), code=st.booleans(), contents=st.booleans())
def test_the_law(asked: bool, code: bool, contents: bool) -> None:
    """A result is current if all three are as they would be now; other code alone makes it an old one."""
    standing = judge(asked=asked, code=code, contents=contents)
    assert (standing is Validity.CURRENT) == (asked and code and contents)
    assert (standing is Validity.OTHER_CODE) == (asked and contents and not code)


def test_an_envelope(tmp_path: Path) -> None:
    """Inputs, code and contents are looked at; numbers that differ in the last bit are other inputs."""
    path = tmp_path / "x.json"
    assert look(path, {"a": 1.0}, "c").standing is Validity.MISSING
    keep(path, {"a": 1.0}, "c", {"mean": 5.5})
    assert look(path, {"a": 1.0}, "c").standing is Validity.CURRENT
    assert read(path, dict[str, float]) == {"mean": 5.5}
    assert look(path, {"a": 1.0000000000000002}, "c").standing is Validity.NO_RESULT
    assert look(path, {"a": 1.0}, "d").standing is Validity.OTHER_CODE
    for text in (path.read_text().replace("5.5", "999.0"), "{}", "", '{"mean": 5.5}'):
        path.write_text(text)
        assert look(path, {"a": 1.0}, "c").standing is Validity.NO_RESULT
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})


def test_what_is_said_and_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    """Old results are kept and named, or done again; files that are no result are always done again."""
    found = {standing: KeptResult(standing, standing.value, "0123456789abcdef+changes") for standing in Validity}
    console = Console(width=200)
    todo = choose(found, console, rerun=False)
    assert todo == [Validity.MISSING, Validity.NO_RESULT]
    assert left(found, todo) == [found[Validity.OTHER_CODE]]
    assert capsys.readouterr().out.splitlines() == [
        "2 of 4 runs are already there",
        "1 of 4 kept runs are damaged, or answer another question: done again (no result)",
        "1 runs were made by other code (commit 0123456789+changes): kept as they are; repeat them with --rerun",
    ]
    todo = choose(found, console, rerun=True)
    assert todo == [Validity.MISSING, Validity.OTHER_CODE, Validity.NO_RESULT]
    assert left(found, todo) == []
    assert "1 runs were made by other code (commit 0123456789+changes): done again" in capsys.readouterr().out


def forge_json(path: Path) -> None:
    """Write 999.0 over the figures of a kept result."""
    data = json.loads(path.read_text())

    def forged(value: object) -> object:
        if isinstance(value, dict):
            return {key: forged(item) for key, item in value.items()}
        return [forged(item) for item in value] if isinstance(value, list) else 999.0 if value is not None else None

    data["result"] = {
        key: forged(value) if isinstance(value, int | float | dict) else value for key, value in data["result"].items()
    }
    path.write_text(json.dumps(data))


@pytest.fixture
def edited(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Make this process believe that a module's source is another one."""
    sha_of = codehash._sha256

    def edit_module(name: str) -> None:
        (path,) = (path for module, path in codehash.modules_of(name).items() if module == name)
        monkeypatch.setattr(codehash, "_sha256", lambda file: "edited" if file == path else sha_of(file))
        codehash.code_of.cache_clear()

    yield edit_module
    codehash.code_of.cache_clear()


def test_kept_points_of_a_study(
    edited: Callable[[str], None], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same, of two points of the fifth paper's."""
    points = [point for point in STUDY.points() if point.matches({"case": "B", "control": "shifting"})][:2]

    def play(*, rerun: bool = False) -> PointResults:
        return play_points(STUDY, points, tmp_path, Pool(execute, 1), Console(width=200), workers=1, rerun=rerun)

    first = play()
    assert (len(first.values), first.failed, first.old) == (2, {}, [])
    forge_json(tmp_path / "points" / f"{points[0].id}.json")
    edited("spillway.schedulers.controllers.shifting")
    again = play()
    assert "1 of 2 kept points are damaged" in capsys.readouterr().out
    assert [entry.name for entry in again.old] == [points[1].id]
    assert again.values == first.values
    assert play(rerun=True).old == []
    assert "1 points were made by other code" in capsys.readouterr().out


def test_a_forged_run_of_a_campaign(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its rows and its figures are looked at alike."""
    command = [*CAMPAIGN, "--workers", "1", "--out", str(tmp_path)]
    assert main(command) == 0
    table = (tmp_path / "results.csv").read_bytes()
    for name in ("metrics.json", "jobs.csv"):
        (folder,) = tmp_path.glob("kth-like_easy_*")
        lines = (folder / name).read_text().splitlines(keepends=True)
        changed = [line.replace("1", "9") if number else line for number, line in enumerate(lines)]
        (folder / name).write_text("".join(changed))
        capsys.readouterr()
        assert main(command) == 0
        printed = capsys.readouterr().out
        assert f"are damaged, or answer another question: done again ({folder.name}: {name}: " in printed
        assert (tmp_path / "results.csv").read_bytes() == table


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project with code that may be edited; the compiled core comes along."""
    folder = tmp_path / "copy"
    shutil.copytree(ROOT, folder / "spillway")
    shutil.copy(REPOSITORY / "run_experiments.py", folder)
    return folder


def run_in(folder: Path, *arguments: str) -> str:
    """Run a command of the copy."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [sys.executable, "run_experiments.py", *arguments]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def edit(path: Path, change: Callable[[str], str]) -> None:
    """Change a source."""
    text = path.read_text()
    assert change(text) != text
    path.write_text(change(text))


def means(folder: Path) -> dict[str, tuple[str, str]]:
    """Mean wait and mark of each policy."""
    return {row["policy"]: (row["mean_waiting_time_s"], row["other_code"]) for row in csv_rows(folder / "results.csv")}


@pytest.mark.slow
def test_an_edited_policy(copy: Path, tmp_path: Path) -> None:
    """The old mean was printed without a word. Now it is named and marked, and --rerun gives the new one."""
    out = tmp_path / "out"
    command = (*CAMPAIGN, "--workers", "1", "--out", str(out))
    run_in(copy, *command)
    before = means(out)
    assert {mark for _, mark in before.values()} == {"0"}
    last_come = (
        "        waiting: Sequence[Job] = view.queue\n",
        "        waiting: Sequence[Job] = list(view.queue)[::-1]\n",
    )
    edit(copy / "spillway" / "schedulers" / "policies" / "backfill.py", lambda text: text.replace(*last_come))
    printed = run_in(copy, *command)
    assert "2 of 2 runs are already there" in printed
    assert "1 runs were made by other code (commit not known): kept as they are; repeat them with --rerun" in printed
    assert "easy *" in printed
    assert "conservative *" not in printed
    assert printed.rstrip().endswith("--rerun does them again")
    assert means(out) == {"easy": (before["easy"][0], "1"), "conservative": before["conservative"]}
    printed = run_in(copy, *command, "--rerun")
    assert "1 runs were made by other code (commit not known): done again" in printed
    assert "*" not in printed.partition("mean_waiting")[0]
    after = means(out)
    assert after["easy"][0] != before["easy"][0]
    assert after["easy"][1] == "0"
    assert after["conservative"] == before["conservative"]


def test_a_changed_metric_is_computed_anew(
    edited: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Figures follow from rows: if only their code has changed, no run is repeated and no old figure is shown."""
    command = [*CAMPAIGN[:5], "--no-plots", "--workers", "1", "--out", str(tmp_path)]
    assert main(command) == 0
    edited("spillway.analysis.measures.metrics")
    summarise = summary.summarise
    monkeypatch.setattr(
        summary, "summarise", lambda run, tau: replace(summarise(run, tau), mean_waiting_time_s=77_777.0)
    )
    capsys.readouterr()
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert "1 of 1 runs are already there" in printed
    assert "21 h 36 min" in printed
    assert "other code" not in printed


def test_values_stay_typed_through_a_campaign(tmp_path: Path) -> None:
    """alpha = 1.0000001 reached the policy as 1.0, and the digest was that of the text 1."""
    campaign = tmp_path / "c.toml"
    campaign.write_text(
        'plots = false\n[[workload]]\nsource = "kth-like:jobs=5"\n[[policy]]\npolicy = "plan-square"\n'
        "options = { alpha = [1.0000001, 1.0] }\n"
        'session = { foreign = 0.1, estimates = "history", history = 3 }\n'
    )
    assert main([str(campaign), "--workers", "1", "--out", str(tmp_path / "out")]) == 0
    records = sorted((read_json(path) for path in (tmp_path / "out").glob("*/run.json")), key=lambda one: one["id"])
    assert len(records) == 2
    runs = [msgspec.convert(record["configuration"], RunSpec) for record in records]
    found = {run.policy.options["alpha"] for run in runs}
    assert found == {1.0000001, 1.0} == {run.settings["alpha"] for run in runs}
    assert {type(run.settings["alpha"]) for run in runs} == {float}
    assert {run.policy.session["foreign"] for run in runs} == {0.1}
    assert {run.settings["history"] for run in runs} == {3}

    from spillway.experiments.run.sessions import build_policy

    assert {build_policy(run.policy).alpha for run in runs} == {1.0000001, 1.0}  # type: ignore[attr-defined]
    texts = [record["repeat"] for record in records]
    assert sum("alpha=1.0000001," in text for text in texts) == 1
    assert sum("alpha=1," in text for text in texts) == 1


def test_explaining_writes_under_the_same_lock(tmp_path: Path) -> None:
    """Files that ``explain`` adds to a run's folder leave the run a current one."""
    command = [*CAMPAIGN[:5], "--no-plots", "--workers", "1", "--out", str(tmp_path)]
    assert main(command) == 0
    (folder,) = tmp_path.glob("kth-like_easy_*")
    assert explain(folder, "1")
    assert (folder / "reasons.csv").exists()
    before = (folder / "jobs.csv").stat().st_mtime_ns
    assert main(command) == 0
    assert (folder / "jobs.csv").stat().st_mtime_ns == before
