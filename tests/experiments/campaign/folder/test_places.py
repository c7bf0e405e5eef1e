"""One folder, one comparison: the default folder of results, and refused ones."""

import shutil
from pathlib import Path

import pytest

from spillway.experiments.campaign.folder.places import default_folder
from spillway.experiments.cli import main
from spillway.experiments.run.spec import Campaign, PolicySpec, WorkloadSpec

RUN = ("run", "--workload", "mine.swf", "--nodes", "16", "--force", "--workers", "1")
LOG = Path(__file__).parents[3] / "data" / "swf" / "small.swf"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of work with two logs, which is the current one."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(LOG, "mine.swf")
    Path("yours.swf").write_bytes(LOG.read_bytes() + b"\n")
    return tmp_path


def campaign(workload: str = "mine.swf", policy: str = "easy", **more: object) -> Campaign:
    """A comparison of one policy on one log."""
    jobs, policies = (WorkloadSpec(source=workload),), (PolicySpec(policy=policy),)
    return Campaign(name="run", workloads=jobs, policies=policies, **more)  # type: ignore[arg-type]


def test_the_folder_follows_from_the_question(here: Path) -> None:
    """The same question has the same folder, with any output; another question, or another log, another folder."""
    first = default_folder(campaign(), Path("results"))
    assert first.parent == Path("results")
    assert first.name.startswith("mine-")
    assert default_folder(campaign(tau_s=60.0, plots=False, explain=True), Path("results")) == first
    others = {
        default_folder(campaign_of, Path("results")) for campaign_of in (campaign("yours.swf"), campaign(policy="fcfs"))
    }
    Path("mine.swf").write_text(Path("mine.swf").read_text() + "\n")
    others.add(default_folder(campaign(), Path("results")))
    assert len(others | {first}) == 4


def test_two_logs_never_share_a_folder(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without --out each has its own folder, in which the same command continues; in the other's it is refused."""
    assert main([*RUN, "--policy", "fcfs", "--no-plots"]) == 0
    assert main(["run", "--workload", "yours.swf", *RUN[3:], "--policy", "fcfs", "--no-plots"]) == 0
    folders = sorted(Path("results").iterdir())
    assert [path.name.partition("-")[0] for path in folders] == ["mine", "yours"]
    (kept,) = folders[0].glob("*_fcfs_*/jobs.csv")
    written = kept.stat().st_mtime_ns
    assert main([*RUN, "--policy", "fcfs", "--no-plots"]) == 0
    assert sorted(Path("results").iterdir()) == folders
    assert kept.stat().st_mtime_ns == written
    capsys.readouterr()
    before = (folders[1] / "summary.csv").read_bytes()
    assert main([*RUN, "--policy", "fcfs", "--out", str(folders[1])]) == 2
    assert capsys.readouterr().err == (
        f"spillway: error: '{folders[1]}' holds a comparison on 'yours', this one is on 'mine': a folder holds one "
        "comparison; name another with --out, or delete that one\n"
    )
    assert (folders[1] / "summary.csv").read_bytes() == before


def test_figures_of_another_question_do_not_stay(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With --out, the same log and other policies: the runs are kept, the old figures and the report are not."""
    command = [*RUN, "--out", "out"]
    assert main([*command, "--policy", "fcfs"]) == 0
    assert Path("out/plots/gantt-fcfs.svg").is_file()
    assert main([*command, "--policy", "easy"]) == 0
    assert {path.stem for path in Path("out/plots").glob("gantt-*")} == {"gantt-easy"}
    assert "note: removed outdated files: plots/gantt-fcfs.png and 1 more" in capsys.readouterr().out
    assert main([*command, "--policy", "easy", "--no-plots"]) == 0
    assert not list(Path("out/plots").iterdir())
    assert not Path("out/report.html").exists()
    assert main(["verify", "out"]) == 0


def test_a_log_that_was_refused_leaves_no_claim(here: Path) -> None:
    """Once it is mended, the same command runs."""
    whole = Path("mine.swf").read_text()
    Path("mine.swf").write_text("1 2 3\n")
    assert main([*RUN, "--policy", "fcfs", "--out", "out", "--no-plots"]) == 2
    Path("mine.swf").write_text(whole)
    assert main([*RUN, "--policy", "fcfs", "--out", "out", "--no-plots"]) == 0
