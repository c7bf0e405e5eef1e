"""Kinds of damage to a campaign's folder, each put into a copy; every one must be noticed, named and mended."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spillway.experiments.campaign.folder.verify import verify
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.manifest import checksum
from tools.faults.campaign import play, run_of, schedules

Damage = Callable[[Path], object]


def _run(root: Path) -> Path:
    return run_of(root, "easy")


def _other(root: Path) -> Path:
    return run_of(root, "fcfs")


def _file(name: str, harm: Callable[[Path], object]) -> Damage:
    return lambda root: harm(_run(root) / name)


def _input(suffix: str, harm: Callable[[Path], object]) -> Damage:
    return lambda root: harm(next((root / "inputs").glob(f"*{suffix}")))


def empty(path: Path) -> None:
    """Empty a file."""
    path.write_bytes(b"")


def cut(path: Path) -> None:
    """Leave the first half of a file."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    """Change one bit in the middle of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def lengthen(path: Path) -> None:
    """Repeat a file's last line."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines, lines[-1]]))


def touch_spaces(path: Path) -> None:
    """Change a file's white space only."""
    path.write_bytes(path.read_bytes().replace(b"\n", b"\n ", 1))


def swap_word(old: str, new: str) -> Callable[[Path], None]:
    """Replace a text by another."""

    def harm(path: Path) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new, 1))

    return harm


def to_folder(path: Path) -> None:
    """Put a folder in a file's place."""
    path.unlink()
    path.mkdir()


def to_loop(path: Path) -> None:
    """Put a link to itself in the place of a file or a folder."""
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    path.symlink_to(path.name)


def to_link(path: Path) -> None:
    """Put a link to the same contents elsewhere in a file's place."""
    elsewhere = path.parent.parent / "elsewhere.csv"
    path.rename(elsewhere)
    path.symlink_to(elsewhere)


def to_pipe(path: Path) -> None:
    """Put a named pipe in a file's place."""
    path.unlink()
    os.mkfifo(path)


def forge(path: Path) -> None:
    """Change a table and write its new size and checksum into the manifest."""
    entry = path.parent / "manifest.json"
    before = checksum(path)
    flip(path)
    entry.write_text(entry.read_text().replace(before, checksum(path)))


def swap(name: str) -> Damage:
    """Exchange a file with the one of another run."""

    def harm(root: Path) -> None:
        ours, theirs = _run(root) / name, _other(root) / name
        data = ours.read_bytes()
        ours.write_bytes(theirs.read_bytes())
        theirs.write_bytes(data)

    return harm


def other_run(root: Path) -> None:
    """Put a copy of another run, whole, in a run's place."""
    ours = _run(root)
    shutil.rmtree(ours)
    shutil.copytree(_other(root), ours)


def claim(root: Path) -> None:
    """Add a table of jobs from elsewhere to the list of files."""
    shutil.copy(_run(root) / "jobs.csv", _run(root) / "batsim_jobs.csv")


def status(path: Path) -> None:
    """Mark a finished run as failed."""
    path.write_text(json.dumps(json.loads(path.read_text()) | {"status": "failed", "cause": "x"}))


KINDS: dict[str, Damage] = {
    "jobs.csv emptied": _file("jobs.csv", empty),
    "jobs.csv cut": _file("jobs.csv", cut),
    "jobs.csv, one bit": _file("jobs.csv", flip),
    "jobs.csv, a line more": _file("jobs.csv", lengthen),
    "jobs.csv deleted": _file("jobs.csv", Path.unlink),
    "jobs.csv a folder": _file("jobs.csv", to_folder),
    "jobs.csv a link to itself": _file("jobs.csv", to_loop),
    "jobs.csv a link elsewhere": _file("jobs.csv", to_link),
    "jobs.csv a pipe": _file("jobs.csv", to_pipe),
    "jobs.csv forged with its checksum": _file("jobs.csv", forge),
    "allocations.csv of another run": lambda root: shutil.copy(root / "results.csv", _run(root) / "allocations.csv"),
    "allocations.csv emptied": _file("allocations.csv", empty),
    "rejections.csv deleted": _file("rejections.csv", Path.unlink),
    "machine.json, one bit": _file("machine.json", flip),
    "metrics.json edited": _file("metrics.json", swap_word("0", "1")),
    "timings.json swapped": swap("timings.json"),
    "timings.json emptied": _file("timings.json", empty),
    "schedule.csv cut": _file("schedule.csv", cut),
    "run.json: another seed": _file("run.json", swap_word('"seed": 0', '"seed": 1')),
    "run.json: failed": _file("run.json", status),
    "run.json swapped": swap("run.json"),
    "run.json cut": _file("run.json", cut),
    "run.json deleted": _file("run.json", Path.unlink),
    "manifest deleted": _file("manifest.json", Path.unlink),
    "manifest emptied": _file("manifest.json", empty),
    "manifest cut": _file("manifest.json", cut),
    "manifest, one bit": _file("manifest.json", flip),
    "manifest, a space": _file("manifest.json", touch_spaces),
    "manifest: another size": _file("manifest.json", swap_word('"bytes": ', '"bytes": 1')),
    "manifest swapped": swap("manifest.json"),
    "a table that the run did not write": claim,
    "another run in its place": other_run,
    "run deleted": lambda root: shutil.rmtree(_run(root)),
    "run emptied": lambda root: [path.unlink() for path in _run(root).iterdir()],
    "run a link to itself": lambda root: to_loop(_run(root)),
    "workload edited": _input(".json", swap_word('"res": ', '"res":  ')),
    "workload emptied": _input(".json", empty),
    "platform deleted": _input(".xml", Path.unlink),
    "platform, one bit": _input(".xml", flip),
    "results.csv edited": lambda root: flip(root / "results.csv"),
    "summary.csv deleted": lambda root: (root / "summary.csv").unlink(),
}
"""Damage by name; each is done to a campaign of two runs, to the run of ``easy`` if it concerns one run."""


@dataclass(frozen=True)
class DamageOutcome:
    """Outcome of one kind of damage.

    Attributes
    ----------
    kind
        Its name.
    said
        Lines of ``verify`` about it.
    noticed
        Whether ``verify`` found it.
    mended
        Whether repeating the command made everything whole again, with the same bytes; None: not tried.
    """

    kind: str
    said: tuple[str, ...]
    noticed: bool
    mended: bool | None


def inflict(whole: Path, kind: str, work: Path, *, repeat: bool) -> DamageOutcome:
    """Put one kind of damage into a copy of a whole campaign, verify it, and repeat the command."""
    root = work / "copy"
    shutil.rmtree(root, ignore_errors=True)
    shutil.copytree(whole, root)
    KINDS[kind](root)
    lines: list[str] = []
    try:
        noticed = verify(root, lines.append) == 1 and any(line.startswith("damaged: ") for line in lines)
    except SpecError:
        noticed = False
    mended = None
    if repeat:
        code, _ = play(root)
        mended = code == 0 and verify(root, lambda _: None) == 0 and schedules(root) == schedules(whole)
    return DamageOutcome(kind, tuple(line for line in lines if line.startswith("damaged")), noticed, mended)
