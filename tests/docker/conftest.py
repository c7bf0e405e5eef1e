"""An engine, our image on it, and compose; each is made once, and everything is gone afterwards."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.docker.engine import Engine, NoEngine, an_engine

ROOT = Path(__file__).parents[2]
COMPOSE_FILE = ROOT / "docker" / "docker-compose.yml"
BUILD_S = 900
RUN_S = 180
UNOPTIMISED = "-DSPILLWAY_LEVEL=-O0"
"""The core's compilation was most of an image's; results do not depend on it, as the tests see."""


@dataclass
class Compose:
    """The compose command on an engine, for one project.

    Attributes
    ----------
    command
        The program: ``docker compose`` or ``docker-compose``.
    engine
        The engine.
    project
        Name of its containers, network and volumes.
    settings
        Environment variables that the compose file reads.
    """

    command: tuple[str, ...]
    engine: Engine
    project: str = field(default_factory=lambda: f"spillway-test-{uuid.uuid4().hex[:8]}")
    settings: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, timeout_s: float = RUN_S) -> subprocess.CompletedProcess[str]:
        """Run a command of compose; its output is kept."""
        return subprocess.run(
            [*self.command, "-f", str(COMPOSE_FILE), "-p", self.project, *arguments],
            env=self.engine.environment | self.settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout_s,
            check=False,
        )


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """A container engine; skips with the reason if no engine runs and none can be started."""
    pytest.importorskip("docker.client", reason="the package 'docker' is not installed")
    with contextlib.ExitStack() as stack:
        try:
            found = stack.enter_context(an_engine())
        except NoEngine as reason:
            pytest.skip(str(reason))
        yield found


@pytest.fixture(scope="session")
def compose_command(engine: Engine) -> tuple[str, ...]:
    """The compose program; skips if it is not installed."""
    candidates: Sequence[tuple[str, ...]] = (("docker", "compose"), ("docker-compose",))
    for command in candidates:
        if shutil.which(command[0]) is None:
            continue
        done = subprocess.run([*command, "version"], env=engine.environment, capture_output=True, check=False)
        if done.returncode == 0:
            return command
    pytest.skip("neither 'docker compose' nor 'docker-compose' is installed")


@pytest.fixture(scope="session")
def client(engine: Engine) -> Iterator[Any]:
    """The SDK's client of the engine."""
    from docker.client import DockerClient

    with contextlib.closing(DockerClient(base_url=engine.host, timeout=BUILD_S)) as found:
        yield found


@pytest.fixture(scope="session")
def image(engine: Engine, client: Any, compose_command: tuple[str, ...]) -> Iterator[str]:
    """Our image, built by compose from the Dockerfile as it is."""
    from tests.docker.base_image import STAND_IN, NoBase, base_name, have_base

    try:
        origin = have_base(client)
    except NoBase as reason:
        pytest.skip(str(reason))
    before = {found.id for found in client.images.list(filters={"dangling": True})}
    name = f"spillway-test:{uuid.uuid4().hex[:8]}"
    network = "host" if engine.own else "default"
    settings = {"SPILLWAY_IMAGE": name, "SPILLWAY_BUILD_NETWORK": network, "SPILLWAY_CORE_OPTIONS": UNOPTIMISED}
    build = Compose(compose_command, engine, settings=settings)
    try:
        done = build("--profile", "embedded", "build", "scheduler", timeout_s=BUILD_S)
        assert done.returncode == 0, done.stdout[-3000:]
        yield name
    finally:
        if not engine.own:
            # A builder without cache of its own leaves the first stage behind, nameless.
            stages = [found.id for found in client.images.list(filters={"dangling": True}) if found.id not in before]
            for ours in [name, *stages, *([base_name(), STAND_IN] if origin == "stand-in" else [])]:
                with contextlib.suppress(Exception):
                    client.images.remove(ours, force=True)


@pytest.fixture(scope="session")
def drop_in(client: Any, image: str) -> Iterator[str]:
    """Our image with our simulator as its program ``batsim``, its entry point as it is the official image's."""
    name = image.replace(":", "-batsim:")
    program = '#!/bin/sh\\nexec python -m spillway simulate "$@"\\n'
    text = (
        f"FROM {image}\nUSER 0\nRUN printf '{program}' > /usr/local/bin/batsim && chmod 755 /usr/local/bin/batsim\n"
        'USER 10001\nENTRYPOINT ["batsim"]\nCMD []\n'
    )
    client.images.build(fileobj=io.BytesIO(text.encode()), tag=name, network_mode="none", rm=True)
    try:
        yield name
    finally:
        with contextlib.suppress(Exception):
            client.images.remove(name, force=True)


@pytest.fixture
def compose(engine: Engine, compose_command: tuple[str, ...], image: str) -> Iterator[Compose]:
    """Compose with our image, for a project that is removed afterwards."""
    project = Compose(
        compose_command, engine, settings={"SPILLWAY_IMAGE": image, "SPILLWAY_USER": f"{os.getuid()}:{os.getgid()}"}
    )
    try:
        yield project
    finally:
        project("--profile", "embedded", "--profile", "batsim", "down", "--volumes", "--timeout", "1")
