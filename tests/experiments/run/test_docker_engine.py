"""Batsim in a container: the parts that need no engine."""

import importlib.metadata
from pathlib import Path

import pytest

from spillway.experiments.cli import main
from spillway.experiments.run import docker_engine
from spillway.experiments.run.docker_engine import mount
from spillway.experiments.run.errors import SpecError

RUN = ["run", "--workload", "kth-like:jobs=5", "--policy", "fcfs", "--no-plots"]


def test_mount(tmp_path: Path) -> None:
    """Inputs are mounted one by one and read-only, of the outputs the folder; other options stay as they are."""
    platform, workload, out = tmp_path / "p.xml", tmp_path / "w.json", tmp_path / "results"
    platform.touch()
    workload.touch()
    out.mkdir()
    given = ["-p", str(platform), "-w", str(workload), "-s", "tcp://localhost:28000", "-e", str(out / "run1"), "-q"]
    mounted = mount(given)
    assert mounted.arguments == (
        *("-p", "/inputs/0/p.xml", "-w", "/inputs/1/w.json"),
        *("-s", "tcp://localhost:28000", "-e", "/outputs/run1", "-q"),
    )
    assert mounted.volumes == {
        str(platform): {"bind": "/inputs/0/p.xml", "mode": "ro"},
        str(workload): {"bind": "/inputs/1/w.json", "mode": "ro"},
        str(out): {"bind": "/outputs", "mode": "rw"},
    }


def test_mount_follows_links_and_repetitions(tmp_path: Path) -> None:
    """A link is mounted as the file that it leads to, and a file given twice is mounted once."""
    (tmp_path / "real.json").touch()
    (tmp_path / "link.json").symlink_to("real.json")
    mounted = mount(["-w", str(tmp_path / "link.json"), "-w", str(tmp_path / "real.json")])
    assert mounted.arguments == ("-w", "/inputs/0/real.json", "-w", "/inputs/0/real.json")
    assert list(mounted.volumes) == [str(tmp_path / "real.json")]


@pytest.mark.parametrize(("option", "what"), [("-p", "no file"), ("-w", "no file"), ("-e", "no folder")])
def test_mount_refuses_what_is_missing(tmp_path: Path, option: str, what: str) -> None:
    """An engine would make a folder of the name of a missing file."""
    with pytest.raises(SpecError, match=f"{option}: there is {what}"):
        mount([option, str(tmp_path / "nowhere" / "x")])


def test_no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without an engine nothing runs, and the message says what can be done."""
    pytest.importorskip("docker.client", reason="the package 'docker' is not installed")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody")
    assert main([*RUN, "--engine", "docker", "--out", str(tmp_path / "out")]) == 2
    assert "no container engine answers" in capsys.readouterr().err


def test_no_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The SDK is optional; a folder that happens to be called docker is no SDK."""

    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(docker_engine.importlib.metadata, "version", missing)
    assert main([*RUN, "--engine", "docker", "--out", str(tmp_path / "out")]) == 2
    assert "pip install 'spillway[docker]'" in capsys.readouterr().err


def test_program_needs_an_image(capsys: pytest.CaptureFixture[str]) -> None:
    """Called by hand without arguments, it prints those that it expects."""
    assert docker_engine.main([]) == 2
    assert "expected the name of an image" in capsys.readouterr().err
