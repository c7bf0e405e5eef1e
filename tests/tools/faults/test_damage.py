"""Damaged results are noticed, named and done again; edited inputs are never read."""

import re
from pathlib import Path

import pytest

from spillway.base import durable
from spillway.experiments.campaign.folder.verify import verify
from spillway.experiments.cli import main
from spillway.experiments.run import manifest
from tools.faults.campaign import ARGUMENTS, Serial, play, run_of, schedules
from tools.faults.damage import KINDS, inflict


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished campaign of two runs."""
    root = tmp_path_factory.mktemp("whole") / "campaign"
    assert play(root)[0] == 0
    return root


@pytest.mark.parametrize("kind", KINDS)
def test_every_damage_is_noticed(kind: str, whole: Path, tmp_path: Path) -> None:
    """``verify`` names the error; an emptied or cut jobs.csv counted as a finished run before."""
    assert len(KINDS) >= 30
    seen = inflict(whole, kind, tmp_path, repeat=False)
    assert seen.noticed, seen


@pytest.mark.parametrize("kind", ["jobs.csv emptied", "manifest swapped", "workload edited"])
def test_damage_is_mended_by_the_next_command(kind: str, whole: Path, tmp_path: Path) -> None:
    """The same command gives the same bytes again, without a hand on the folder."""
    assert inflict(whole, kind, tmp_path, repeat=True).mended


def test_a_whole_campaign(whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0 for a campaign, a run and a tree of them; 2 if nothing is to be verified."""
    assert main(["verify", str(whole)]) == 0
    assert capsys.readouterr().out == "3 whole, 0 damaged, 0 failed\n"
    assert main(["verify", str(run_of(whole, "easy"))]) == 0
    assert main(["verify", str(whole.parent)]) == 0
    (tmp_path / "nothing").mkdir()
    for path in (tmp_path / "nothing", tmp_path / "nowhere"):
        assert main(["verify", str(path)]) == 2
        assert capsys.readouterr().err.count("\n") == 1


def test_a_damaged_run_is_named(tmp_path: Path) -> None:
    """The next command names the run and its error, and leaves the other one."""
    play(tmp_path)
    before = schedules(tmp_path)
    (run_of(tmp_path, "easy") / "jobs.csv").write_bytes(b"")
    code, said = play(tmp_path)
    assert code == 0
    assert "1 of 2 runs are already there" in said
    assert re.search(r"done again \(kth-like_easy_\S+: jobs.csv: expected [\d,]+ bytes, found 0\)", said)
    assert schedules(tmp_path) == before


def test_an_edited_input_is_never_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ten jobs were played instead of sixty, and run.json stated the checksum of the sixty."""
    play(tmp_path)
    (workload,) = (tmp_path / "inputs").glob("*.json")
    data = workload.read_bytes()
    workload.write_bytes(data.replace(b'"subtime"', b'"subtimf"', 1))
    code, said = play(tmp_path)
    assert code == 0
    assert "its contents were changed: made anew" in said
    assert workload.read_bytes() == data

    run = Serial.run

    def edited(self: Serial, tasks: object) -> object:
        workload.write_bytes(b" " + data)  # after the preparation, before the use
        return run(self, tasks)  # type: ignore[arg-type]

    monkeypatch.setattr(Serial, "run", edited)
    code, said = play(tmp_path, [*ARGUMENTS, "--policy", "filler"])
    assert code == 1
    assert re.search(r"failed .*_filler_.*its contents were changed; repeat the command", said)
    assert verify(tmp_path, lambda _: None) == 1  # the input is still the edited one
    monkeypatch.undo()
    assert play(tmp_path, [*ARGUMENTS, "--policy", "filler"])[0] == 0
    assert verify(tmp_path, lambda _: None) == 0


def test_files_of_others_are_no_damage(whole: Path, tmp_path: Path) -> None:
    """A note beside a run's tables is neither read nor a reason to do the run again."""
    assert manifest.damage(run_of(whole, "fcfs")) == []
    play(tmp_path)
    (run_of(tmp_path, "fcfs") / "notes.txt").write_text("mine")
    assert verify(tmp_path, lambda _: None) == 0


def test_a_file_is_old_or_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that fails half-way leaves the old contents and nothing else, and names the file in one line."""
    path = tmp_path / "x.csv"
    durable.write_text(path, "old")

    def full(descriptor: int, data: bytes) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(durable, "_write", full)
    with pytest.raises(
        durable.WriteFailed, match=r"^cannot write '.*x\.csv': No space left on device; free some space"
    ):
        durable.write_text(path, "new")
    assert [path.name for path in tmp_path.iterdir()] == ["x.csv"]
    assert path.read_text() == "old"
