"""Folders of runs: they appear whole, also beside runs that end at the same moment."""

import tempfile
from pathlib import Path

import pytest

from spillway.base.durable import PARTIAL, WriteFailed
from spillway.experiments.run import folders
from spillway.experiments.run.folders import MANIFEST, scratch


def test_a_run_begins_while_another_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the other run removes the folder of unfinished runs just before this one's is made in it."""
    make = tempfile.mkdtemp
    ends = 3

    def beside_an_end(*, prefix: str, dir: Path) -> str:
        nonlocal ends
        if ends:
            ends -= 1
            dir.rmdir()
        return make(prefix=prefix, dir=dir)

    monkeypatch.setattr(tempfile, "mkdtemp", beside_an_end)
    with scratch(tmp_path / "run") as work:
        (work / MANIFEST).touch()
    assert ends == 0
    assert (tmp_path / "run" / MANIFEST).exists()
    assert not (tmp_path / PARTIAL).exists()


def test_no_place_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the folder of unfinished runs never stays, the run fails with its own name, and ends."""
    monkeypatch.setattr(folders, "_TRIES", 2)

    def gone(**_: object) -> str:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(tempfile, "mkdtemp", gone)
    with pytest.raises(WriteFailed, match="run"), scratch(tmp_path / "run"):
        pass
