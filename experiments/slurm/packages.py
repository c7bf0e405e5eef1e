"""Complete root folders of Slurm's releases, unpacked from Debian's packages; nothing is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from spillway.base import durable
from spillway.experiments.slurm.availability import MissingRequirement

_SUITES: Mapping[str, str] = {"22.05": "bookworm", "24.11": "trixie"}
"""Debian's suite that has a release of Slurm."""
RELEASES = tuple(_SUITES)
"""Releases of Slurm; the first is the default."""

PACKAGES = (
    *("slurmctld", "slurmd", "slurm-client", "slurmdbd", "slurm-wlm-mysql-plugin", "mariadb-server"),
    *("liblua5.3-0", "bash", "coreutils", "dash", "grep", "sed", "hostname"),
)
"""Packages of the programs inside, in any release; apt-get finds their dependencies."""

PROGRAMS = ("apt-get", "dpkg-deb", "unshare", "mount", "ip", "chroot", "hostname")
"""Required programs of the system."""

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
"""Debian's keys, which verify its packages."""

_ALTERNATIVES = ("slurmctld", "slurmd", "slurmstepd")
"""Programs that Debian installs under another name, with a link that an unpacked package lacks."""


def cache_folder() -> Path:
    """Folder for downloads: ``spillway/slurm`` under ``XDG_CACHE_HOME``, else under ``~/.cache``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spillway" / "slurm"


def programs(release: str, folder: Path, say: Callable[[str], None]) -> Path:
    """Return the root folder of a release; download and unpack its packages if that was not done yet.

    Parameters
    ----------
    release
        One of :data:`_SUITES`.
    folder
        Folder of root folders; made if it does not exist.
    say
        Gets a line before something is downloaded.

    Raises
    ------
    MissingRequirement
        A program of the system or Debian's keyring is missing, or a package is not available.
    """
    for name in PROGRAMS:
        if shutil.which(name) is None:
            raise MissingRequirement(f"there is no {name!r} on PATH (Debian and its derivatives have it)")
    if not KEYRING.exists():
        raise MissingRequirement(
            f"there is no {KEYRING} to verify Debian's packages with (package debian-archive-keyring)"
        )
    root = folder / release
    if _complete(root):
        return root
    folder.mkdir(parents=True, exist_ok=True)
    say(f"downloading Slurm {release} with its dependencies (50 to 80 MB, 400 MB unpacked) into {folder} ...")
    with tempfile.TemporaryDirectory(prefix=f"{release}-", dir=folder) as temporary:
        unpacked = Path(temporary) / "root"
        for package in _downloaded(_SUITES[release], Path(temporary)):
            _called(["dpkg-deb", "-x", str(package), str(unpacked)])
        for name in _ALTERNATIVES:
            (unpacked / "usr" / "sbin" / name).symlink_to(f"{name}-wlm")
        durable.write_text(_list_of(unpacked), "\n".join(PACKAGES))
        shutil.rmtree(root, ignore_errors=True)
        unpacked.rename(root)
    return root


def _list_of(root: Path) -> Path:
    """File, written last, with the packages of this root folder."""
    return root / "spillway-packages"


def _complete(root: Path) -> bool:
    made_from = _list_of(root)
    return made_from.exists() and made_from.read_text(encoding="utf-8") == "\n".join(PACKAGES)


def _downloaded(suite: str, folder: Path) -> list[Path]:
    """Packages with their dependencies; apt keeps its state in the folder, apart from the system's."""
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "cache" / "archives" / "partial").mkdir(parents=True)
    (folder / "sources.list").write_text(f"deb [signed-by={KEYRING}] {_mirror()} {suite} main\n", encoding="utf-8")
    settings = {
        "Dir::Etc::sourcelist": folder / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::State": folder,
        "Dir::State::lists": folder / "lists",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": folder / "cache",
        "APT::Sandbox::User": "root",
    }
    apt = ["apt-get", *(part for key, value in settings.items() for part in ("-o", f"{key}={value}"))]
    _called([*apt, "update", "--error-on=any"])
    _called([*apt, "install", "--download-only", "--no-install-recommends", "--yes", *PACKAGES])
    return sorted((folder / "cache" / "archives").glob("*.deb"))


def _mirror() -> str:
    """Address of Debian's packages in the system's sources: its suites of updates and security may be elsewhere."""
    listed = _called(["apt-get", "indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"])
    for line in listed.splitlines():
        if match := re.fullmatch(r"(\S+) [^\s/-]+", line):
            return match[1]
    raise MissingRequirement("the system's apt sources name no mirror of Debian")


def _called(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines() or [f"exit code {done.returncode}"]
        asked = [word for word in command if word in ("update", "install", "indextargets")]
        raise MissingRequirement(f"{' '.join([command[0], *asked])} failed: {lines[-1]}")
    return done.stdout
