"""Slurm's programs from Debian's packages, unpacked into a folder; nothing is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from spillway.experiments.slurm.missing import Missing

PACKAGES = (
    *("slurmctld", "slurmd", "slurm-client", "slurm-wlm-basic-plugins", "libslurm38", "munge", "libmunge2"),
    *("liblua5.1-0", "liblua5.3-0", "libhwloc15", "libjson-c5", "libhttp-parser2.9", "libfreeipmi17"),
    *("libipmimonitoring6", "librrd8", "libpmix2", "libevent-core-2.1-7", "libyaml-0-2", "libjwt0", "libnuma1"),
    *("libbpf1", "libhdf5-103-1"),
)
"""Slurm 22.05 of Debian 12 and the libraries that a small installation of Debian may lack."""

PROGRAMS = ("apt-get", "dpkg", "unshare", "mount", "ip", "setpriv", "hostname")
"""Programs of the system that are used."""

_UNPACKED = "unpacked"
"""Name of the file that says that the folder is complete."""


def cache_folder() -> Path:
    """Folder for what is downloaded: ``spillway/slurm`` under ``XDG_CACHE_HOME``, else under ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spillway" / "slurm"


def programs(folder: Path, say: Callable[[str], None]) -> Path:
    """Return the root of the unpacked packages; download and unpack them where that was not done yet.

    Parameters
    ----------
    folder
        Where packages are kept; made if it does not exist.
    say
        Gets a line before something is downloaded.

    Raises
    ------
    Missing
        A program of the system is not there, or a package cannot be had.
    """
    for name in PROGRAMS:
        if shutil.which(name) is None:
            raise Missing(f"there is no {name!r} on PATH (Debian and what derives from it have it)")
    root = folder / "root"
    if (root / _UNPACKED).exists():
        return root
    downloads = folder / "packages"
    shutil.rmtree(root, ignore_errors=True)
    shutil.rmtree(downloads, ignore_errors=True)
    downloads.mkdir(parents=True)
    say(f"downloading {len(PACKAGES)} packages of Slurm (8 MB) into {folder} ...")
    _called(["apt-get", "download", *PACKAGES], downloads)
    for package in sorted(downloads.glob("*.deb")):
        _called(["dpkg", "-x", str(package), str(root)], downloads)
    for name in ("slurmctld", "slurmd", "slurmstepd"):
        link = root / "usr" / "sbin" / name
        if not link.exists():
            link.symlink_to(f"{name}-wlm")
    (root / _UNPACKED).touch()
    return root


def _called(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        raise Missing(f"{' '.join(command[:2])} failed: {lines[-1]}")
