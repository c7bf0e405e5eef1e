"""One command at a time writes a folder of results."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path

from spillway.base import durable
from spillway.base.links import refuse_links
from spillway.experiments.run.errors import SpecError
from spillway.experiments.run.folders import make_folder, read_json

LOCK_FILE = ".lock"

_held: set[int] = set()


@contextlib.contextmanager
def results_folder(path: Path) -> Iterator[Path]:
    """Make a folder of results and lock it until the end of the block; leftovers of interrupted commands are removed.

    Folders made for it are removed again if the block leaves them empty (a refused command).

    The kernel holds the lock (``flock``) and frees it at any end of this process; the text in the file is for people.

    Raises
    ------
    SpecError
        The folder cannot be written, or another command writes it.
    InputError
        It holds a link (:func:`spillway.base.links.refuse_links`): a stranger may have made it.
    """
    with _gone_if_empty(path):
        make_folder(path)
        refuse_links(path)
        stream = _locked(path)
        try:
            durable.sweep(path)
            yield path
        finally:
            (path / LOCK_FILE).unlink(missing_ok=True)  # still held: see _locked
            _let_go(stream)


@contextlib.contextmanager
def _gone_if_empty(path: Path) -> Iterator[None]:
    made = [folder for folder in (path, *path.parents) if not os.path.exists(folder)]
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # the first that is not empty, and all above it, stay
            for folder in made:
                folder.rmdir()


def _locked(folder: Path) -> int:
    """Lock the folder's file; a file that its holder has removed meanwhile locks nothing, so a new one is made."""
    path = folder / LOCK_FILE
    while True:
        try:
            stream = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except FileNotFoundError:  # another command has made the folder, was refused, and has removed it
            make_folder(folder)
            continue
        if os.fstat(stream).st_nlink > 1:
            os.close(stream)
            raise SpecError(f"{str(path)!r} is a further name of another file (a hard link); remove it")
        _held.add(stream)
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(stream).st_ino == path.stat().st_ino:
                holder = {"pid": os.getpid(), "host": platform.node(), "since": time.strftime("%Y-%m-%d %H:%M:%S %z")}
                os.ftruncate(stream, 0)
                os.write(stream, json.dumps(holder).encode())
                return stream
        except FileNotFoundError:
            pass
        except OSError as error:
            _let_go(stream)
            if isinstance(error, BlockingIOError):
                raise SpecError(_busy(folder)) from None
            raise SpecError(f"cannot lock {str(path)!r}: {error.strerror}; name another folder with --out") from None
        _let_go(stream)


def _busy(folder: Path) -> str:
    holder = read_json(folder / LOCK_FILE)
    names = ("pid", "host", "since")
    words = [str(holder.get(name, "?")) for name in names]
    writer = "process {} on {} since {}".format(*words)
    return f"{str(folder)!r} is being written by {writer}: wait until it is done, or name another folder with --out"


def _let_go(stream: int) -> None:
    _held.discard(stream)
    os.close(stream)


def _in_child() -> None:
    """Release the folder in a worker process, which would otherwise hold it after its parent was killed."""
    for stream in list(_held):
        _let_go(stream)


os.register_at_fork(after_in_child=_in_child)
