"""The base image of our Dockerfile, or a stand-in made of Debian's packages if no registry can be reached."""

from __future__ import annotations

import contextlib
import io
import os
import re
import ssl
import subprocess
import sys
import tarfile
from pathlib import Path

from docker.client import DockerClient
from docker.errors import DockerException, ImageNotFound

from tests.docker.stand_in import SUITE, NoBase, stand_in

ROOT = Path(__file__).parents[2]
STAND_IN = f"spillway-stand-in:{SUITE}"
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"
COPIED_KEYS = ("index-url", "extra-index-url", "trusted-host", "proxy")
"""Options that pip needs in a container as on this machine, except those that name files of this machine."""


def base_name() -> str:
    """Name of the base image, from the Dockerfile."""
    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    found = re.search(r"^ARG PYTHON_IMAGE=(\S+)$", text, re.MULTILINE)
    assert found is not None, "docker/Dockerfile does not name its base image in ARG PYTHON_IMAGE"
    return found[1]


def have_base(client: DockerClient) -> str:
    """Make sure that the engine has an image of the base's name; return its origin.

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
    with stand_in().open("rb") as archive:
        client.api.import_image_from_data(archive, repository=STAND_IN.split(":")[0], tag=SUITE)
    _dress(client, name)
    return "stand-in"


def _dress(client: DockerClient, name: str) -> None:
    """Add to the stand-in the files of the official image, and this machine's way to the package index."""
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
