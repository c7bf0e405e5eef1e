"""Run jobs on a real Slurm in namespaces of its own: mounts, processes, network and host name."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from spillway.experiments.run.codehash import REPOSITORY
from spillway.experiments.run.errors import RunFailed
from spillway.experiments.slurm.availability import MissingRequirement
from spillway.experiments.slurm.configuration import (
    BURST_BUFFER_CONF,
    CGROUP_CONF,
    FOLDER,
    HOST,
    Settings,
    Submission,
    burst_buffer_lua,
    slurm_conf,
)
from spillway.experiments.slurm.inside import UNCOVERED
from spillway.experiments.slurm.packages import cache_folder, programs
from spillway.experiments.slurm.recording import Recording, SlurmOutput, recorded
from spillway.experiments.slurm.site import MARIADB_CONF, slurmdbd_conf

NAMESPACES = ("unshare", "--mount", "--pid", "--fork", "--mount-proc", "--net", "--uts", "--ipc", "--kill-child")
"""The end of the first process in a process namespace ends all others there; ``--kill-child`` ends that one with us."""
_ENDING_S = 20.0
"""Time for the processes inside to end, s."""


def run(settings: Settings, jobs: Sequence[Submission], say: Callable[[str], None]) -> Recording:
    """Set a Slurm up, submit the jobs, wait for the last one, and return the recording.

    Raises
    ------
    MissingRequirement
        Namespaces or packages are not available here.
    RunFailed
        Slurm did not start, or did not run all jobs.
    """
    try_namespaces()
    root = programs(settings.release, cache_folder(), say)
    in_order = sorted(jobs, key=lambda job: job.at_s)
    with tempfile.TemporaryDirectory(prefix="spillway-slurm-") as temporary:
        folder = Path(temporary)
        _prepare(folder, settings, in_order)
        say(f"{len(jobs)} jobs on a Slurm {settings.release} of {settings.nodes} nodes: this takes some minutes ...")
        _inside(root, folder)
        seen = msgspec.json.decode((folder / "seen.json").read_bytes(), type=SlurmOutput)
        log = (folder / "slurmctld.log").read_text(encoding="utf-8", errors="replace")
    return recorded(log, settings, in_order, seen)


def try_namespaces() -> None:
    """Raise :class:`~spillway.experiments.slurm.availability.MissingRequirement` where namespaces cannot be made."""
    try:
        done = subprocess.run([*NAMESPACES, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise MissingRequirement("there is no 'unshare' on PATH") from None
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        raise MissingRequirement(
            f"namespaces cannot be made here ({why}); root can make them unless a container forbids it"
        )


def _prepare(folder: Path, settings: Settings, jobs: Sequence[Submission]) -> None:
    folder.chmod(0o755)  # jobs run as another user
    (folder / "state").mkdir()
    for number in range(settings.nodes):
        (folder / "spool" / f"n{number + 1}").mkdir(parents=True)
    texts = {
        "slurm.conf": slurm_conf(settings),
        "burst_buffer.conf": BURST_BUFFER_CONF,
        "cgroup.conf": CGROUP_CONF[settings.release],
        "burst_buffer.lua": burst_buffer_lua(settings),
        "settings.json": msgspec.json.encode(settings).decode(),
        "submissions.json": msgspec.json.encode(jobs).decode(),
    }
    if settings.site is not None:
        texts["slurmdbd.conf"] = slurmdbd_conf(HOST, str(FOLDER))
        texts["my.cnf"] = MARIADB_CONF.format(folder=FOLDER)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o600 if name == "slurmdbd.conf" else 0o644)  # slurmdbd refuses any other


def _inside(root: Path, folder: Path) -> None:
    """Run :mod:`spillway.experiments.slurm.inside` to its end; at any end of this call, all its processes are ended."""
    home = str(REPOSITORY)
    paths = os.pathsep.join([home, *filter(None, [os.environ.get("PYTHONPATH", "")])])
    found = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/bin"])
    process = subprocess.Popen(
        [*NAMESPACES, sys.executable, "-m", "spillway.experiments.slurm.inside", str(root), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": paths, "PATH": found},
        start_new_session=True,  # Ctrl-C is for us to pass on
    )
    assert process.stdin is not None
    assert process.stderr is not None
    try:
        said = process.stderr.read().decode(errors="replace").strip()
        process.wait()
    finally:
        process.stdin.close()
        try:
            process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.returncode == UNCOVERED:
        raise MissingRequirement(
            f"overlay mounts cannot be made in a namespace here: {said.splitlines()[0] if said else 'refused'}"
        )
    if process.returncode != 0:
        raise RunFailed(f"Slurm did not run the jobs: {said.splitlines()[-1] if said else process.returncode}")
