"""Every command that reads results refuses what is not as it was written, with the place of the damage."""

import shutil
from pathlib import Path

import pytest

import spillway as sw
from spillway.base.errors import SpillwayError
from spillway.experiments.cli import main


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A campaign of two runs."""
    folder = tmp_path_factory.mktemp("whole") / "results"
    runs = ["run", "kth-like:jobs=20", "--policy", "fcfs", "--policy", "easy", "--no-plots"]
    assert main([*runs, "--out", str(folder)]) == 0
    return folder


@pytest.fixture
def campaign(whole: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    return Path(shutil.copytree(whole, tmp_path / "results"))


def cut(path: Path) -> None:
    """As a full disk leaves a file."""
    path.write_bytes(path.read_bytes()[:40])


def changed(path: Path) -> None:
    """By another hand."""
    path.write_bytes(path.read_bytes() + b" ")


def run_of(campaign: Path) -> Path:
    """The folder of a run."""
    return min(path.parent for path in campaign.glob("*/run.json"))


DAMAGE = {
    "run.json cut": ("run.json", cut),
    "run.json changed": ("run.json", changed),
    "run.json gone": ("run.json", Path.unlink),
    "manifest cut": ("manifest.json", cut),
    "manifest changed": ("manifest.json", changed),
    "manifest gone": ("manifest.json", Path.unlink),
    "metrics cut": ("metrics.json", cut),
    "machine gone": ("machine.json", Path.unlink),
    "jobs changed": ("jobs.csv", changed),
}
READERS = {
    "report": lambda campaign, run, out: ["report", campaign],
    "report elsewhere": lambda campaign, run, out: ["report", campaign, "--out", out / "x.html"],
    "figures": lambda campaign, run, out: ["report", campaign, "--figures", "svg"],
    "explain": lambda campaign, run, out: ["explain", run, "3"],
    "export": lambda campaign, run, out: ["export", run, out / "x.swf"],
}


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_run(
    reader: str, damage: str, campaign: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line with the file's path and its fault, and exit code 2; nothing is written."""
    run, (name, how) = run_of(campaign), DAMAGE[damage]
    before = {path for path in campaign.rglob("*") if path != run / name}
    how(run / name)
    assert main([str(word) for word in READERS[reader](campaign, run, tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{run / name}: it" in error or f"{run / name}: expected" in error
    assert "repeat the command that made it" in error
    assert {path for path in campaign.rglob("*") if path != run / name} == before
    assert not [path for path in tmp_path.iterdir() if path.suffix]


@pytest.mark.parametrize("damage", ["run.json cut", "manifest gone", "jobs changed"])
def test_python_too(damage: str, campaign: Path) -> None:
    """A folder that is opened."""
    run, (name, how) = run_of(campaign), DAMAGE[damage]
    sw.Results(campaign)
    how(run / name)
    with pytest.raises(SpillwayError, match=f"{name}: "):
        sw.Results(campaign)
    with pytest.raises(SpillwayError, match=f"{name}: "):
        sw.explain(run, 3)


@pytest.mark.parametrize(
    ("name", "how", "fault"),
    [
        ("manifest.json", cut, "it is cut or was changed"),
        ("manifest.json", changed, "it was changed"),
        ("summary.csv", changed, "expected"),
        ("assumptions.txt", Path.unlink, "it is missing"),
    ],
)
def test_damaged_tables(name: str, how: object, fault: str, campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A report of them is refused."""
    assert callable(how)
    how(campaign / name)
    assert main(["report", str(campaign)]) == 2
    assert f"{campaign / name}: {fault}" in capsys.readouterr().err


def test_a_missing_run(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its folder is named."""
    run = run_of(campaign)
    shutil.rmtree(run)
    assert main(["report", str(campaign)]) == 2
    assert f"{run}: the run's folder is missing" in capsys.readouterr().err


def test_without_a_manifest_it_is_said(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A stopped command leaves none: the table is then an older one; its runs are checked all the same."""
    (campaign / "manifest.json").unlink()
    assert main(["report", str(campaign)]) == 0
    assert f"note: {campaign}: its tables have no manifest" in capsys.readouterr().err
    cut(run_of(campaign) / "run.json")
    assert main(["report", str(campaign)]) == 2


def test_figures_and_pages_are_no_results(campaign: Path) -> None:
    """They may be changed and removed: none is read."""
    assert main(["report", str(campaign), "--figures", "svg"]) == 0
    changed(campaign / "report.html")
    shutil.rmtree(campaign / "plots")
    assert main(["report", str(campaign)]) == 0


def test_damaged_inputs_of_a_repetition(campaign: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``explain`` repeats a run: the campaign's copy is named, not one in a temporary folder."""
    (workload,) = (campaign / "inputs").glob("*.json")
    changed(workload)
    assert main(["explain", str(run_of(campaign)), "3"]) == 2
    assert f"{workload}: its contents were changed" in capsys.readouterr().err
