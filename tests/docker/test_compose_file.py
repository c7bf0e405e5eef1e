"""The compose file, read without an engine."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from spillway.experiments.run.docker_engine import check_version
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.spec import DEFAULT_IMAGE

COMPOSE_FILE = Path(__file__).parents[2] / "docker" / "docker-compose.yml"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services."""
    found: dict[str, Any] = yaml.safe_load(COMPOSE_FILE.read_text(encoding="utf-8"))["services"]
    return found


@pytest.mark.parametrize(
    ("profile", "members"),
    [("embedded", "scheduler simulator"), ("batsim", "batsim scheduler"), ("batsim5", "batsim5 scheduler")],
)
def test_profiles(services: dict[str, Any], profile: str, members: str) -> None:
    """Each profile is our service and one simulator; without a profile nothing starts."""
    assert sorted(name for name, service in services.items() if profile in service["profiles"]) == members.split()


def test_privileges(services: dict[str, Any]) -> None:
    """No service has capabilities, publishes a port, runs as root by default, or may change its inputs."""
    for name, service in services.items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert "ports" not in service, name
        assert service["user"] == "${SPILLWAY_USER:-10001:10001}", name
        assert service["read_only"] is True, name
        assert (service["mem_limit"], service["pids_limit"]) == ("${MEMORY:-4g}", 256), name
        assert service["volumes"] == ["${INPUTS:-inputs}:/inputs:ro", "${OUTPUTS:-outputs}:/outputs"], name


def test_batsim_is_started_in_any_image(services: dict[str, Any]) -> None:
    """Some have it as their entry point, others only as their command, which ours replaces."""
    assert services["batsim"]["entrypoint"] == ["batsim"]


def test_image_of_batsim(services: dict[str, Any]) -> None:
    """Compose and the driver take the same Batsim."""
    assert services["batsim"]["image"] == f"${{BATSIM_IMAGE:-{DEFAULT_IMAGE}}}"


def test_command_line_of_batsim_5(services: dict[str, Any]) -> None:
    """With one value after -s, it takes the next option for a second scheduler ("Using several ... (EDCs)")."""
    service = services["batsim5"]
    words = shlex.split(service["command"])
    assert words[:4] == ["-s", "tcp://scheduler:28000", "", "-p"]
    assert words[words.index("-e") + 1].endswith("_")
    assert service["entrypoint"] == ["batsim"]


DOCKER = """#!/bin/sh
case $1 in
    run) shift; echo "run $*" >> "$CALLS"; echo "$VERSION"; exit "${CODE:-0}" ;;
    compose) echo "$*" >> "$CALLS" ;;
esac
"""


def started(
    folder: Path, image: str = "some:image", **settings: str
) -> tuple[subprocess.CompletedProcess[str], list[str]]:
    """Run ``docker/batsim.sh`` with a ``docker`` that notes its calls."""
    (folder / "docker").write_text(DOCKER)
    (folder / "docker").chmod(0o755)
    calls = folder / "calls"
    calls.touch()
    environment = {"PATH": f"{folder}:/usr/bin:/bin", "CALLS": str(calls), "BATSIM_IMAGE": image, **settings}
    script = [str(COMPOSE_FILE.with_name("batsim.sh")), "--no-color"]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    return done, calls.read_text().splitlines()


@pytest.mark.parametrize(("version", "profile"), [("v4.2.1", "batsim"), ("4.1.0", "batsim"), ("5.0.0-rc2", "batsim5")])
def test_the_version_chooses_the_profile(tmp_path: Path, version: str, profile: str) -> None:
    """It is asked before anything is started."""
    done, calls = started(tmp_path, VERSION=version)
    assert done.returncode == 0, done.stderr
    assert calls[0] == "run --rm --network none --cap-drop ALL --entrypoint batsim some:image --version"
    assert calls[-1] == f"compose -f {COMPOSE_FILE} --profile {profile} up --exit-code-from {profile} --no-color"


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"VERSION": "v4.0.0"}, "expected Batsim 4.1 or newer, below 6; its --version prints 'v4.0.0'"),
        ({"VERSION": "6.0"}, "expected Batsim 4.1 or newer, below 6; its --version prints '6.0'"),
        ({"VERSION": "", "CODE": "127"}, "'batsim --version' failed in it"),
        ({"image": ""}, "BATSIM_IMAGE must name an image"),
    ],
)
def test_versions_that_are_not_started(tmp_path: Path, settings: dict[str, str], expected: str) -> None:
    """One line and exit code 2; compose is not called."""
    done, calls = started(tmp_path, **settings)
    assert done.returncode == 2
    assert expected in done.stderr
    assert not [call for call in calls if call.startswith("compose")]


@pytest.mark.parametrize("text", ["v4.1.0", "4.2.1\n"])
def test_versions_taken(text: str) -> None:
    """From 4.1 on; Batsim 5 has another command line."""
    check_version("x", text)


@pytest.mark.parametrize("text", ["4.0.0", "v3.1.0", "5.0.0-rc2", "6.0", "", "sh: batsim: not found"])
def test_versions_refused(text: str) -> None:
    """Older ones, unknown ones, and texts that are no version of Batsim."""
    with pytest.raises(SpecError, match=r"image 'x': expected a Batsim from 4\.1 on, below 5"):
        check_version("x", text)
