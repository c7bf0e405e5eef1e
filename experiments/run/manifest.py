"""The certificate of a folder: its files with sizes and checksums. It is written last, so that it marks a whole folder.

``manifest.json`` lists the written files, and has a checksum of itself. A folder is *whole* while every listed file
exists with these contents, and it holds no table of a run that is not listed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Collection, Iterable
from pathlib import Path

import msgspec

from spillway.base import durable
from spillway.base.files import open_regular
from spillway.base.limits import InputError
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.folders import MANIFEST, RUN_FILE

_RUN_TABLES = frozenset(
    {
        *("jobs.csv", "batsim_jobs.csv", "allocations.csv", "rejections.csv", "reasons.csv", "io_phases.csv"),
        *("machine.json", "metrics.json", "timings.json", "schedule.csv", "machine_states.csv", "pstate_changes.csv"),
        *("consumed_energy.csv", "schedule.trace", "persistent.csv", "dependencies.csv", "outages.csv", "drains.csv"),
        *("priorities.csv", "preemptions.csv"),
        RUN_FILE,
    }
)
"""Names of a run's result files: such a file counts as the run's, so it must be listed."""

_CHUNK_BYTES = 1 << 20


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file: its size in bytes and the sha256 of its contents."""

    bytes: int
    sha256: str


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Contents of a folder.

    Attributes
    ----------
    files
        Size and checksum by path below the folder.
    runs
        Folders of the runs from which a campaign's tables are made.
    sha256
        Checksum of the manifest without this field.
    """

    files: dict[str, Entry]
    runs: tuple[str, ...] = ()
    sha256: str = ""


def seal(folder: Path, names: Iterable[str] = (), runs: Collection[str] = ()) -> None:
    """Sync files to the disk and write their manifest, after which the folder counts as whole.

    Parameters
    ----------
    folder
        The folder.
    names
        Paths below it; default: all files directly in it.
    runs
        Folders of the runs that belong to it.

    Raises
    ------
    WriteFailed
        A file cannot be synced, or the manifest cannot be written.
    """
    chosen = sorted(names) or sorted(path.name for path in folder.iterdir() if path.is_file())
    files = {name: _sealed(folder / name) for name in chosen if name != MANIFEST}
    _write(folder, _Manifest(files, tuple(runs)))


def add(folder: Path, name: str) -> None:
    """Add a file that was written later to a folder's manifest; nothing happens if the folder has no whole manifest."""
    found = _read(folder)
    if isinstance(found, _Manifest):
        files = found.files | {name: _sealed(folder / name)}
        _write(folder, msgspec.structs.replace(found, files=dict(sorted(files.items()))))


def unseal(folder: Path) -> None:
    """Remove the manifest: its files are about to change."""
    durable.remove(folder / MANIFEST)


def damage(folder: Path, tables: frozenset[str] = _RUN_TABLES) -> list[str]:
    """List the faults of a folder, one line per file; empty if it is whole.

    Parameters
    ----------
    folder
        A run's folder, or a campaign's.
    tables
        Names of files that must not exist unless they are listed.
    """
    found = _read(folder)
    if isinstance(found, str):
        return [f"{MANIFEST}: {found}"]
    faults = [f"{name}: {fault}" for name, entry in found.files.items() if (fault := _compare(folder / name, entry))]
    foreign = [name for name in sorted(tables - found.files.keys()) if os.path.lexists(folder / name)]
    faults += [f"{name}: it is there, but was not written with the others" for name in foreign]
    faults += [f"{name}: it is {kind}" for name, kind in _specials(folder) if name not in found.files]
    faults += [f"{name}: the run's folder is missing" for name in found.runs if not _is_folder(folder / name)]
    return faults


def refuse_damage(folder: Path) -> None:
    """Refuse a run's folder that is not as it was written.

    Raises
    ------
    SpecError
        With the first of its faults.
    """
    for fault in damage(folder):
        raise SpecError(damaged(folder, fault))


def refuse_member(file: Path) -> None:
    """Refuse to write a file over one of a folder of results.

    Raises
    ------
    SpecError
        A folder above it lists the file, or it is that folder's manifest.
    """
    place = file.resolve()
    for folder in place.parents:
        found = _read(folder)
        if isinstance(found, _Manifest) and str(place.relative_to(folder)) in (*found.files, MANIFEST):
            raise SpecError(f"{file}: it would take the place of a file of the results in {folder}; name another")


def damaged(folder: Path, fault: str) -> str:
    """Words on a fault of a folder, with the file's path and the remedy."""
    return f"{folder / fault}; repeat the command that made it ('spillway verify' lists all damage)"


def runs_of(folder: Path) -> tuple[str, ...]:
    """Runs that a campaign's manifest lists; empty without a whole manifest."""
    found = _read(folder)
    return found.runs if isinstance(found, _Manifest) else ()


def checksum(path: Path) -> str:
    """Take the sha256 of a regular file's contents."""
    with open_regular(path) as stream:
        return _sha256(stream.fileno())


def _sealed(path: Path) -> Entry:
    durable.sync_file(path)
    return Entry(path.stat().st_size, checksum(path))


def _compare(path: Path, entry: Entry) -> str:
    """The fault of a file; "" if it is unchanged."""
    try:
        state = path.lstat()
        if not stat.S_ISREG(state.st_mode):
            return f"expected a file, found {_KINDS.get(stat.S_IFMT(state.st_mode), 'something else')}"
        if state.st_size != entry.bytes:
            return f"expected {entry.bytes:,} bytes, found {state.st_size:,}"
        return "" if checksum(path) == entry.sha256 else "its contents were changed"
    except FileNotFoundError:
        return "it is missing"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    except InputError as error:
        return f"it {error}"


def _specials(folder: Path) -> list[tuple[str, str]]:
    """Entries of a folder that are neither files nor folders, with their kinds."""
    with os.scandir(folder) as entries:
        found = [
            entry
            for entry in entries
            if not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False))
        ]
    return sorted((entry.name, "a symbolic link" if entry.is_symlink() else "no file") for entry in found)


_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe"}


def _sha256(descriptor: int) -> str:
    total = hashlib.sha256()
    while data := os.read(descriptor, _CHUNK_BYTES):
        total.update(data)
    return total.hexdigest()


def _is_folder(path: Path) -> bool:
    with contextlib.suppress(OSError):
        return stat.S_ISDIR(path.lstat().st_mode)
    return False


def _write(folder: Path, manifest: _Manifest) -> None:
    bare = msgspec.structs.replace(manifest, sha256="")
    whole = msgspec.structs.replace(bare, sha256=hashlib.sha256(msgspec.json.encode(bare)).hexdigest())
    durable.write_bytes(folder / MANIFEST, _text(whole))


def _text(manifest: _Manifest) -> bytes:
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def _read(folder: Path) -> _Manifest | str:
    """The manifest, or its fault."""
    path = folder / MANIFEST
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return "expected a file, found something else"
        data = path.read_bytes()
        found = msgspec.json.decode(data, type=_Manifest)
    except FileNotFoundError:
        return "it is missing"
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return "it is cut or was changed"
    if any(os.path.isabs(name) or ".." in Path(name).parts for name in (*found.files, *found.runs)):
        return "it names a file outside of its folder"
    bare = msgspec.json.encode(msgspec.structs.replace(found, sha256=""))
    if hashlib.sha256(bare).hexdigest() != found.sha256 or data != _text(found):
        return "it was changed"
    return found
