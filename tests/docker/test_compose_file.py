"""The compose file, read without an engine."""

from __future__ import annotations

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


@pytest.mark.parametrize(("profile", "members"), [("embedded", "scheduler simulator"), ("batsim", "batsim scheduler")])
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


@pytest.mark.parametrize("text", ["v4.1.0", "4.2.1\n"])
def test_versions_taken(text: str) -> None:
    """From 4.1 on; Batsim 5 has another command line."""
    check_version("x", text)


@pytest.mark.parametrize("text", ["4.0.0", "v3.1.0", "5.0.0-rc2", "6.0", "", "sh: batsim: not found"])
def test_versions_refused(text: str) -> None:
    """Older ones, unknown ones, and texts that are no version of Batsim."""
    with pytest.raises(SpecError, match=r"image 'x': expected a Batsim from 4\.1 on, below 5"):
        check_version("x", text)
