"""Durable writing of files and folders: one procedure for all results.

A file is written under a temporary name, synced to the disk, renamed, and its folder is synced: whatever happens in
between (a full disk, a kill, a power cut), the name refers to the complete old or the complete new contents. The same
holds for a folder that replaces another. Remains of an interrupted writer have the suffix :data:`PARTIAL`.

Bytes reach the system in :func:`_write`, :func:`_fsync` and :func:`_rename` only: tests make these fail, one at a time.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from spillway.base.errors import SpillwayError

PARTIAL = ".partial"
"""Suffix of files and folders that are still being written, or whose writing was interrupted."""

_OCCUPIED = frozenset({errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR, errno.EISDIR})
_HINTS = dict.fromkeys((errno.ENOSPC, errno.EDQUOT), "; free some space, then repeat the command")
WRONG_PLACE = {
    errno.ENOTDIR: "a file is where a folder is needed",
    errno.EEXIST: "a file is where a folder is needed",
    errno.EISDIR: "a folder is where a file is needed",
    errno.ENOENT: "there is no such folder",
    errno.EACCES: "you may not write there",
    errno.EPERM: "you may not write there",
    errno.EROFS: "that file system can only be read",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ELOOP: "its links lead in a circle",
}
"""Texts of those errors of the system that another place avoids; a full or broken disk is not among them."""

_NO_SYNC = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EROFS})


class WriteFailed(SpillwayError, OSError):
    """A file cannot be written (disk full, no permission, a broken device); the message names it and the reason."""

    def __str__(self) -> str:
        return str(self.strerror)


def write_bytes(path: Path, data: bytes, *, sync: bool = True) -> None:
    """Write a file whole, or leave it as it was.

    Parameters
    ----------
    path
        The file.
    data
        Its contents.
    sync
        Whether to wait for the disk; False where the folder is synced as a whole before it gets its name.

    Raises
    ------
    WriteFailed
        The file cannot be written.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}{PARTIAL}")
    try:
        with open_binary(temporary, path) as stream:
            stream.write(data)
            stream.flush()
            if sync:
                _settle(stream.fileno(), path)
        rename(temporary, path, sync=sync)
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise


def write_text(path: Path, text: str, *, sync: bool = True) -> None:
    """Write a text file (UTF-8) as :func:`write_bytes` does."""
    write_bytes(path, text.encode(), sync=sync)


def open_binary(path: Path, shown: Path | None = None) -> BinaryIO:
    """Open a file to be written in pieces, under a temporary name; its writer renames it (:func:`settle`).

    Parameters
    ----------
    path
        The file.
    shown
        Name in errors; default: the file's.
    """
    return cast("BinaryIO", io.BufferedWriter(_Raw(path, shown or path)))


def open_text(path: Path, shown: Path | None = None) -> TextIO:
    """Open a text file (UTF-8, line ends unchanged) as :func:`open_binary` does."""
    return io.TextIOWrapper(open_binary(path, shown), encoding="utf-8", newline="")


def settle(temporary: Path, path: Path) -> None:
    """Sync a closed file that was written in pieces, and give it its final name."""
    sync_file(temporary)
    rename(temporary, path)


def sync_file(path: Path) -> None:
    """Wait until a file's contents are on the disk."""
    with _naming(path):
        descriptor = os.open(path, os.O_RDONLY)
    try:
        _settle(descriptor, path)
    finally:
        os.close(descriptor)


def _sync_folder(folder: Path) -> None:
    """Wait until a folder's names are on the disk; file systems that do not support this need no sync."""
    with _naming(folder):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            _fsync(descriptor)
        except OSError as error:
            if error.errno not in _NO_SYNC:
                raise
        finally:
            os.close(descriptor)


def rename(old: Path, new: Path, *, sync: bool = True) -> None:
    """Give a file another name in its folder, durably with ``sync``; a device or a pipe is not replaced."""
    with _naming(new):
        refuse_special(new)
        _rename(old, new)
    if sync:
        _sync_folder(new.parent)


def refuse_special(path: Path) -> None:
    """Refuse a place where a device, a pipe or a socket is (``/dev/stdout``), which a file would replace for all.

    Raises
    ------
    OSError
        It is one.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise OSError(errno.ENXIO, "it is a device, a pipe or a socket: name a file")


def remove(path: Path) -> None:
    """Remove a file durably; a missing file is no error."""
    if os.path.lexists(path):
        with _naming(path):
            path.unlink()
        _sync_folder(path.parent)


def replace_folder(work: Path, folder: Path) -> None:
    """Replace a folder durably by another one; the old folder exists until then.

    Raises
    ------
    WriteFailed
        The replacement failed; the old folder is in its place again.
    """
    _sync_folder(work)
    aside = work.with_name(f"{work.name}.old")
    with _naming(folder):
        try:
            _rename(work, folder)
        except OSError as error:
            if error.errno not in _OCCUPIED or not os.path.lexists(folder):
                raise
            _rename(folder, aside)
            try:
                _rename(work, folder)
            except BaseException:
                with contextlib.suppress(OSError):
                    os.replace(aside, folder)
                raise
    _sync_folder(folder.parent)
    discard(aside)


def discard(path: Path) -> None:
    """Remove a file, or a folder with its contents; ignore errors."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove the remains of interrupted writers from a folder and its direct subfolders."""
    for pattern in (PARTIAL, f".*{PARTIAL}", f"*/.*{PARTIAL}"):
        for path in folder.glob(pattern):
            discard(path)


class _Raw(io.RawIOBase):
    """A file written by :func:`_write`; its errors name it."""

    def __init__(self, path: Path, shown: Path) -> None:
        self._shown = shown
        with _naming(shown):
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, data: object) -> int:
        with _naming(self._shown):
            return _write(self._descriptor, cast("bytes", data))

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self._descriptor)


def _settle(descriptor: int, path: Path) -> None:
    with _naming(path):
        _fsync(descriptor)


@contextlib.contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Turn the system's errors into ones that name the file."""
    try:
        yield
    except WriteFailed:
        raise
    except OSError as error:
        raise failed(path, error) from None


def reason(error: OSError) -> str:
    """Reason why the system refuses to write: the text of :data:`WRONG_PLACE` if it has one, else the system's."""
    return WRONG_PLACE.get(error.errno or 0) or error.strerror or str(error)


def failed(path: Path, error: OSError) -> WriteFailed:
    """Make the error that names a file and the system's reason."""
    hint = _HINTS.get(error.errno or 0, "")
    return WriteFailed(error.errno, f"cannot write {str(path)!r}: {reason(error)}{hint}", str(path))


_write: Callable[[int, bytes], int] = os.write
_fsync: Callable[[int], None] = os.fsync
_rename: Callable[[Path, Path], None] = os.replace
