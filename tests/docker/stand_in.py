"""Files of a stand-in for the base image of our Dockerfile, made of Debian's packages.

As a program (``python -m tests.docker.stand_in``) this makes them before the tests need them; the standard library
is enough for it.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tests.docker.engine import in_memory

ROOT = Path(__file__).parents[2]
SUITE = "bookworm"
INCLUDED = "python3,python3-dev,python3-pip,python3-venv,ca-certificates"
RECIPE = "1"
"""Part of the cached file's name; changes with its recipe."""

DEBOOTSTRAP_S = 600
MEMORY_BYTES = 2**30


class NoBase(Exception):
    """There is no base image; the message is the reason."""


def stand_in() -> Path:
    """A minimal Debian with Python as a tar file; made once and kept. Whoever comes while it is made waits.

    Raises
    ------
    NoBase
        It cannot be made.
    """
    cached = cache_folder() / f"base-{SUITE}-{hashlib.sha256((RECIPE + INCLUDED).encode()).hexdigest()[:8]}.tar"
    if cached.is_file():
        return cached
    if os.geteuid() != 0 or shutil.which("debootstrap") is None:
        raise NoBase("the base image cannot be pulled, and a stand-in takes root and Debian's package debootstrap")
    cached.parent.mkdir(parents=True, exist_ok=True)
    with cached.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not cached.is_file():
            _make(cached)
    return cached


def _make(cached: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="spillway-base-"))
    try:
        # A mount namespace of its own: its mounts end with the process, at any end.
        command = ["unshare", "--mount", sys.executable, "-m", "tests.docker.stand_in", str(folder), str(cached)]
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise NoBase(" ".join((done.stderr.strip().splitlines() or ["debootstrap was ended"])[-1:]))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def cache_folder() -> Path:
    """Folder of files kept between runs of the tests."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spillway-tests"


def main() -> int:
    """Make the tar file unless it is there; with FOLDER and FILE, as :func:`stand_in` starts it: always."""
    try:
        if len(sys.argv) < 3:
            stand_in()
            return 0
        folder, cached = map(Path, sys.argv[1:])
        in_memory(folder / "memory", MEMORY_BYTES)
        root = folder / "memory" / "root"
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
    """Address from which this machine takes that suite's packages; empty if it states no address."""
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
