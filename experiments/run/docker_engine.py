"""Batsim in a container, as a program: ``python -m spillway.experiments.run.docker_engine IMAGE`` and Batsim's own
options.

:mod:`spillway.experiments.run.batsim` starts it in place of ``batsim``. It mounts the inputs read-only and the folder
of the outputs, runs the image's Batsim on the host's network (so that our service need not listen on any outside
address) as the calling user, passes its output on, and exits with its exit code. As a separate process it outlives its
parent long enough to remove the container: on a signal to stop, and when the parent is gone.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import re
import signal
import sys
import threading
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from spillway.base.arguments import tell
from spillway.experiments.run.errors import RunFailed, SpecError
from spillway.experiments.run.spec import DEFAULT_IMAGE

if TYPE_CHECKING:
    from docker.client import DockerClient
    from docker.models.containers import Container

OLDEST, BEYOND = (4, 1), (5, 0)
"""Accepted versions of Batsim: from the first on, below the second, which has another command line."""

MEMORY, PROCESSES = "8g", 512
"""Limits of a container."""

_CONFINED: Mapping[str, Any] = {
    "cap_drop": ["ALL"],
    "security_opt": ["no-new-privileges"],
    "mem_limit": MEMORY,
    "pids_limit": PROCESSES,
    "read_only": True,
    "tmpfs": {"/tmp": ""},
}

LABEL = "org.spillway.run"
"""Label of every container started here: ``docker ps --filter label=org.spillway.run`` finds them."""

PROGRAM = "batsim"
POLL_S = 0.2
_LAST_OUTPUT_S = 10.0
_VERSION_S = 60.0
_INPUT_OPTIONS = ("-p", "--platform", "-w", "--workload", "--events", "--sched-cfg-file")
_OUTPUT_OPTIONS = ("-e", "--export")


@dataclass(frozen=True)
class _Mounts:
    """Batsim's options with the paths of the container, and the mounts that they need.

    Attributes
    ----------
    arguments
        The options, with the container's paths.
    volumes
        Host path -> ``{"bind": path in the container, "mode": "ro" | "rw"}``, in the SDK's form.
    """

    arguments: tuple[str, ...]
    volumes: Mapping[str, Mapping[str, str]]


def command(image: str = "") -> tuple[str, ...]:
    """Command in place of ``batsim``, once the engine runs and has the image (pulled where it is missing).

    Raises
    ------
    SpecError
        No SDK, no engine, or no such image.
    """
    name = image or DEFAULT_IMAGE
    with _engine() as client:
        check_version(name, _version(client, name, _have_image(client, name)))
    return (sys.executable, "-m", "spillway.experiments.run.docker_engine", name)


def check_version(image: str, text: str) -> None:
    """Refuse a Batsim that our platforms and codecs do not fit, by the output of ``batsim --version``.

    Raises
    ------
    SpecError
        The text is not a version, or the version is out of range.
    """
    found = re.match(r"v?(\d+)\.(\d+)", text.strip())
    if found is None or not OLDEST <= (int(found[1]), int(found[2])) < BEYOND:
        raise SpecError(
            f"image {image!r}: expected a Batsim from {OLDEST[0]}.{OLDEST[1]} on, below {BEYOND[0]}; its --version "
            f"prints {text.strip()[:60]!r}; --image names another"
        )


def _version(client: DockerClient, image: str, entry: Sequence[str]) -> str:
    """Output of the image's ``batsim --version``, run without network and within the limits of every container."""
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    command = [*(() if entry else (PROGRAM,)), "--version"]
    try:
        container = client.containers.create(image, command, network_mode="none", **_CONFINED)
        try:
            container.start()
            container.wait(timeout=_VERSION_S)
            printed: bytes = container.logs()
        finally:
            container.remove(v=True, force=True)
    except (DockerException, RequestException) as error:
        raise SpecError(f"image {image!r}: 'batsim --version' failed in it ({_one_line(error)})") from None
    return printed.decode(errors="replace")


def mount(arguments: Sequence[str]) -> _Mounts:
    """Replace the files among Batsim's options by their paths in the container.

    Each input file is mounted alone, read-only, without the rest of its folder; the outputs' folder is mounted whole.

    Raises
    ------
    SpecError
        An input is not a file, or the outputs' folder does not exist.
    """
    inside: list[str] = []
    volumes: dict[str, Mapping[str, str]] = {}
    option = ""
    for text in arguments:
        place = text
        if option in _INPUT_OPTIONS:
            file = Path(text).resolve()
            if not file.is_file():
                raise SpecError(f"{option}: there is no file {text!r}")
            place = f"/inputs/{len(volumes)}/{file.name}"
            place = str(volumes.setdefault(str(file), {"bind": place, "mode": "ro"})["bind"])
        elif option in _OUTPUT_OPTIONS:
            prefix = Path(text).resolve()
            if not prefix.parent.is_dir():
                raise SpecError(f"{option}: there is no folder {str(prefix.parent)!r}")
            volumes[str(prefix.parent)] = {"bind": "/outputs", "mode": "rw"}
            place = f"/outputs/{prefix.name}"
        inside.append(place)
        option = text
    return _Mounts(tuple(inside), volumes)


def run(
    image: str, arguments: Sequence[str], output: Callable[[bytes], None], stopped: Callable[[], bool]
) -> int | None:
    """Run the image's Batsim in a container, and always remove the container.

    Parameters
    ----------
    image
        Name of an image.
    arguments
        Batsim's options, with the host's paths.
    output
        Gets Batsim's output, as it comes.
    stopped
        Called several times a second: whether to give up.

    Returns
    -------
    int | None
        Batsim's exit code; ``None`` when given up.

    Raises
    ------
    SpecError
        No SDK, no engine, no such image, or a missing input.
    RunFailed
        The engine refused or failed.
    """
    from docker.errors import DockerException
    from requests.exceptions import RequestException

    mounted = mount(arguments)
    with _engine() as client:
        entry = _have_image(client, image)
        try:
            with _container(client, image, entry, mounted) as container:
                return _follow(container, output, stopped)
        except (DockerException, RequestException) as error:
            raise RunFailed(f"the container engine failed: {_one_line(error)}") from None


@contextlib.contextmanager
def _engine() -> Iterator[DockerClient]:
    """Client of the engine that the environment names (DOCKER_HOST), or of the local one."""
    try:
        # Python imports a folder called docker, such as ours, as an empty package of that name: the version decides.
        importlib.metadata.version("docker")
        from docker.client import DockerClient
        from docker.errors import DockerException
    except ImportError:
        raise SpecError(
            "the package 'docker' is not installed, which --engine docker needs: pip install 'spillway[docker]'"
        ) from None
    try:
        client = DockerClient.from_env()
        client.ping()
    except DockerException as error:
        raise SpecError(
            f"no container engine answers ({_one_line(error)}); start Docker, or set DOCKER_HOST to its address, "
            f"or use the embedded simulator (--engine fluid)"
        ) from None
    try:
        yield client
    finally:
        client.close()


def _have_image(client: DockerClient, name: str) -> list[str]:
    """The image's entry point; the image is pulled if the engine does not have it."""
    from docker.errors import DockerException, ImageNotFound

    try:
        try:
            image = client.images.get(name)
        except ImageNotFound:
            image = client.images.pull(name)
    except DockerException as error:
        raise SpecError(
            f"the image {name!r} is not here and cannot be pulled ({_one_line(error)}); --image names another"
        ) from None
    return list(image.attrs["Config"].get("Entrypoint") or ())


@contextlib.contextmanager
def _container(client: DockerClient, image: str, entry: Sequence[str], mounted: _Mounts) -> Iterator[Container]:
    """A created container, removed on the way out."""
    from docker.errors import NotFound

    name = f"spillway-{uuid.uuid4().hex[:12]}"
    try:
        yield client.containers.create(
            image,
            [*(() if entry else (PROGRAM,)), *mounted.arguments],
            name=name,
            labels={LABEL: name},
            network_mode="host",
            user=f"{os.getuid()}:{os.getgid()}",
            volumes={host: dict(place) for host, place in mounted.volumes.items()},
            **_CONFINED,
            init=True,  # an abort does not kill the first process of a namespace
        )
    finally:
        # By name: the engine may have made the container even if its answer was lost.
        with contextlib.suppress(NotFound):
            client.api.remove_container(name, v=True, force=True)


def _follow(container: Container, output: Callable[[bytes], None], stopped: Callable[[], bool]) -> int | None:
    """Start the container, pass its output on, and wait until it ends or ``stopped`` returns true."""
    result: list[int | BaseException] = []
    ended = threading.Event()

    def wait() -> None:
        try:
            result.append(int(container.wait()["StatusCode"]))
        except BaseException as error:
            result.append(error)
        ended.set()

    def pump() -> None:
        # The stream breaks when the container is removed.
        with contextlib.suppress(Exception):
            for chunk in stream:
                output(chunk)

    container.start()
    stream: Any = container.logs(stream=True, follow=True)
    reader = threading.Thread(target=pump, daemon=True)
    reader.start()
    threading.Thread(target=wait, daemon=True).start()
    while not ended.wait(POLL_S):
        if stopped():
            return None
    reader.join(_LAST_OUTPUT_S)
    if isinstance(result[0], BaseException):
        raise result[0]
    return result[0]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is Batsim's, 2 for wrong input, 128 + n after signal n."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    parent = os.getppid()
    try:
        if not given:
            raise SpecError("expected the name of an image, then Batsim's options")
        with _noting_signals() as signals:
            code = run(given[0], given[1:], _write, lambda: bool(signals) or os.getppid() != parent)
    except (SpecError, RunFailed) as error:
        tell(f"docker: error: {error}", to=sys.stderr)
        return error.exit_code
    if code is None:
        return 128 + (signals[0] if signals else signal.SIGHUP)
    return code


@contextlib.contextmanager
def _noting_signals() -> Iterator[list[int]]:
    """Only record signals to stop: the creation and removal of a container must not be interrupted."""
    signals: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        signals.append(number)

    before = {number: signal.signal(number, note) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _write(data: bytes) -> None:
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


if __name__ == "__main__":
    sys.exit(main())
