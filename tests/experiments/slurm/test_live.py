"""If no Slurm can be run that is reported, and nothing is left behind."""

from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.slurm import live, packages
from spillway.experiments.slurm.availability import MissingRequirement
from spillway.experiments.slurm.packages import PROGRAMS, programs
from tests.kit.printed import rows


def test_without_namespaces_it_is_skipped(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """One line with the reason; the exit code that test harnesses take for skipped."""
    monkeypatch.setattr(live, "NAMESPACES", ("sh", "-c", "echo unshare failed: not permitted >&2; exit 1"))
    assert main(["validate", "slurm"]) == 77
    printed = capsys.readouterr()
    assert printed.out.startswith("validate slurm: skipped: namespaces cannot be made here (unshare failed: not perm")
    assert (printed.out.count("\n"), printed.err) == (1, "")


def test_recordings_of_other_jobs_are_not_compared(capsys: pytest.CaptureFixture[str]) -> None:
    """The file is named."""
    data = Path(__file__).parents[2] / "data" / "slurm"
    assert main(["validate", "slurm", "--replay", f"{data / 'seed-1.json'}", f"{data / 'seed-2.json'}"]) == 2
    assert "seed-2.json: expected a run of the same jobs on the same Slurm as" in capsys.readouterr().err


def test_a_missing_program_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A system that is not like Debian."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(MissingRequirement, match="there is no 'apt-get' on PATH"):
        programs("22.05", tmp_path / "cache", print)
    assert not (tmp_path / "cache").exists()


def test_packages_are_not_taken_unverified(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A system without Debian's keys."""
    _programs(monkeypatch, tmp_path, "exit 1")
    packages.KEYRING.unlink()
    with pytest.raises(MissingRequirement, match=r"there is no .*keys\.gpg to verify Debian's packages with"):
        programs("24.11", tmp_path / "cache", print)


def test_a_release_is_unpacked_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of the suite that has it, from the mirror of the system's own sources (not from that of its updates).

    The root folder keeps the list of packages: with another list it is made anew.
    """
    install = 'for word in "$@"; do case $word in Dir::Cache=*) touch ${word#*=}/archives/one.deb;; esac; done'
    _programs(monkeypatch, tmp_path, install)
    said: list[str] = []
    for _ in range(2):
        root = programs("24.11", tmp_path / "cache", said.append)
    assert len(said) == 1
    assert (root / "usr" / "sbin" / "slurmctld").readlink() == Path("slurmctld-wlm")
    assert (
        tmp_path / "sources"
    ).read_text() == f"deb [signed-by={packages.KEYRING}] http://mirror/debian/ trixie main\n"
    monkeypatch.setattr(packages, "PACKAGES", ("slurmctld",))
    programs("24.11", tmp_path / "cache", said.append)
    assert len(said) == 2


def _programs(monkeypatch: pytest.MonkeyPatch, folder: Path, install: str) -> None:
    """Make a system of these programs only; ``apt-get install`` runs the given command."""
    apt = f"""case "$*" in
*indextargets*) echo http://mirror/security/ bookworm-security; echo http://mirror/debian/ bookworm;;
*update*) for word in "$@"; do case $word in *sourcelist=*) cat ${{word#*=}} > {folder}/sources;; esac; done;;
*) {install};;
esac"""
    tools = {"apt-get": apt, "dpkg-deb": "mkdir -p $3/usr/sbin"}
    (folder / "bin").mkdir()
    for name in PROGRAMS:
        program = folder / "bin" / name
        program.write_text(f"#!/bin/sh\n{tools.get(name, '')}\n", encoding="utf-8")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:/usr/bin:/bin")
    monkeypatch.setattr(packages, "KEYRING", folder / "keys.gpg")
    packages.KEYRING.touch()


def test_a_recording_is_compared_without_a_slurm(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The table has a line a job; the summary both kinds of passes."""
    recording = Path(__file__).parents[2] / "data" / "slurm" / "four-jobs.json"
    assert main(["validate", "slurm", "--replay", str(recording), "--out", str(tmp_path / "table.txt")]) == 0
    printed = capsys.readouterr().out
    assert len(rows(printed)) == 4
    written = (tmp_path / "table.txt").read_text(encoding="utf-8")
    assert [line for line in written.splitlines() if "passes" in line] == printed.splitlines()[-4:]
    assert "passes as Slurm had them: median 0.001 s" in printed
    assert "\nwaits, passes as Slurm had them: mean " in printed
    assert "\nwaits, passes at regular times:  mean " in printed
