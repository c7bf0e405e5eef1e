"""The base image of our Dockerfile, or a stand-in made of Debian's packages where no registry can be reached."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import ssl
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from docker.client import DockerClient
from docker.errors import DockerException, ImageNotFound

from tests.docker.engine import in_memory

ROOT = Path(__file__).parents[2]
SUITE = "bookworm"
INCLUDED = "python3,python3-pip,python3-venv,ca-certificates"
RECIPE = "1"
"""Part of the cached file's name; changes with how it is made."""

STAND_IN = f"spillway-stand-in:{SUITE}"
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
DEBOOTSTRAP_S = 600
MEMORY_BYTES = 2**30
COPIED_KEYS = ("index-url", "extra-index-url", "trusted-host", "proxy")
"""Options that pip needs in a container as on this machine; files of this machine it cannot see there."""


class NoBase(Exception):
    """There is no base image; the message is the reason."""


def base_name() -> str:
    """Name of the base image, as the Dockerfile says it."""
    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    found = re.search(r"^ARG PYTHON_IMAGE=(\S+)$", text, re.MULTILINE)
    assert found is not None, "docker/Dockerfile does not name its base image in ARG PYTHON_IMAGE"
    return found[1]


def have_base(client: DockerClient) -> str:
    """See to it that the engine has an image of the base's name; say where it comes from.

    Raises
    ------
    NoBase
        It can neither be pulled nor made.
    """
    name = base_name()
    with contextlib.suppress(ImageNotFound):
        client.images.get(name)
        return "already there"
    with contextlib.suppress(DockerException):
        client.images.pull(name)
        return "pulled"
    with _tarball().open("rb") as archive:
        client.api.import_image_from_data(archive, repository=STAND_IN.split(":")[0], tag=SUITE)
    _dress(client, name)
    return "stand-in"


def _dress(client: DockerClient, name: str) -> None:
    """Give the stand-in what makes it pass for the official image, and this machine's way to the package index."""
    files = {
        "Dockerfile": f"FROM {STAND_IN}\nENV PATH={PATH}\nCOPY bundle {BUNDLE}\nCOPY pip.conf /etc/pip.conf\n"
        "RUN ln -s /usr/bin/python3 /usr/local/bin/python\n",
        "bundle": _bundle(),
        "pip.conf": _pip_configuration(),
    }
    context = io.BytesIO()
    with tarfile.open(fileobj=context, mode="w") as archive:
        for path, text in files.items():
            data = text.encode()
            entry = tarfile.TarInfo(path)
            entry.size, entry.mode = len(data), 0o644
            archive.addfile(entry, io.BytesIO(data))
    context.seek(0)
    client.images.build(fileobj=context, custom_context=True, tag=name, network_mode="none", rm=True, forcerm=True)


def _bundle() -> str:
    """Certificates that this machine trusts."""
    candidates = [os.environ.get("PIP_CERT"), ssl.get_default_verify_paths().cafile, BUNDLE]
    for path in candidates:
        if path and Path(path).is_file():
            return Path(path).read_text(encoding="utf-8")
    raise NoBase(f"this machine has no bundle of certificates at {BUNDLE}")


def _pip_configuration() -> str:
    """Options of pip here, for pip in a container."""
    done = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=True)
    lines = ["[global]", f"cert = {BUNDLE}"]
    for key, value in re.findall(r"^(?:global|install|:env:)\.([a-z-]+)='(.*)'$", done.stdout, re.MULTILINE):
        places = [place for place in value.replace("\\n", " ").split() if not place.startswith(("file:", "/"))]
        if key in COPIED_KEYS and places and not any(line.startswith(f"{key} =") for line in lines):
            lines.append(f"{key} = {' '.join(places)}")
    return "\n".join(lines) + "\n"


# --------------------------------------------------------------------------- the stand-in's files


def _tarball() -> Path:
    """A minimal Debian with Python as a tar file; made once and kept."""
    cached = cache_folder() / f"base-{SUITE}-{hashlib.sha256((RECIPE + INCLUDED).encode()).hexdigest()[:8]}.tar"
    if cached.is_file():
        return cached
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise NoBase(
            f"the image {base_name()} cannot be pulled, and a stand-in takes root and Debian's package debootstrap"
        )
    cached.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="spillway-base-"))
    try:
        # A mount namespace of its own: what is mounted there is gone with the process, however it ends.
        command = ["unshare", "--mount", sys.executable, "-m", "tests.docker.base_image", str(folder), str(cached)]
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NoBase(" ".join((done.stderr.strip().splitlines() or ["debootstrap was ended"])[-1:]))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return cached


def cache_folder() -> Path:
    """Where files are kept between runs of the tests."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spillway-tests"


def main() -> int:
    """Make the tar file: ``python -m tests.docker.base_image FOLDER FILE``."""
    folder, cached = map(Path, sys.argv[1:])
    in_memory(folder / "memory", MEMORY_BYTES)
    root = folder / "memory" / "root"
    try:
        _debootstrap(root)
    except NoBase as reason:
        print(reason, file=sys.stderr)
        return 1
    partial = cached.with_suffix(f".{os.getpid()}")
    with tarfile.open(partial, "w") as archive:
        archive.add(root, arcname=".", filter=_without_caches)
    partial.replace(cached)
    return 0


def _debootstrap(root: Path) -> None:
    command = ["debootstrap", "--variant=minbase", f"--include={INCLUDED}", SUITE, str(root), *_mirror()]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=DEBOOTSTRAP_S)
    except subprocess.TimeoutExpired:
        raise NoBase(f"debootstrap was not done within {DEBOOTSTRAP_S} s") from None
    if done.returncode != 0:
        last = (done.stdout + done.stderr).strip().splitlines()[-1:]
        raise NoBase(f"debootstrap failed: {' '.join(last)}")


def _mirror() -> list[str]:
    """Where this machine takes that suite's packages from; nothing where it does not say."""
    command = ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", f"Codename: {SUITE}"]
    try:
        lines = subprocess.run(command, capture_output=True, text=True, check=False).stdout.split()
    except OSError:
        return []
    return lines[:1]


def _without_caches(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    name = entry.name.removeprefix("./")
    waste = ("var/cache/apt/", "var/lib/apt/lists/", "usr/share/doc/", "usr/share/man/", "usr/share/locale/", "dev/")
    return None if name.startswith(waste) or entry.isdev() else entry


if __name__ == "__main__":
    sys.exit(main())
