"""Text files, plain or compressed: the suffix decides; writing never leaves half a file behind."""

from __future__ import annotations

import gzip
import lzma
import os
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from spillway.base.durable import refuse_special
from spillway.base.files import PACKED, read_file, read_pieces, unpack
from spillway.base.limits import InputError
from spillway.workloads.errors import WorkloadError

_COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    ".xz": lambda data: lzma.compress(data, preset=6),
    ".gz": lambda data: gzip.compress(data, mtime=0),  # no time stamp: the same content gives the same bytes
}
_CONTENT = {".swf", ".json", ".txt", ".csv", ".parquet", ".log"}

_OPENERS: dict[str, Callable[..., Any]] = {".xz": lzma.open, ".gz": gzip.open}


def content_suffix(path: Path) -> str:
    """Suffix of the content itself (``.swf`` of ``log.swf.xz``), in lower case."""
    return Path(path.stem).suffix.lower() if path.suffix.lower() in PACKED else path.suffix.lower()


def is_workload(path: Path) -> bool:
    """Whether a file is a Batsim workload: it ends in ``.json``, and is no output of Slurm (``sacct --json``)."""
    if content_suffix(path) != ".json":
        return False
    try:
        head = next(read_pieces(path), b"")[:4096]
    except InputError:
        return True  # its reader says what is wrong
    return b'"nb_res"' in head or not any(word in head for word in (b'"job_id"', b'"slurm"', b'"openapi"', b'"meta"'))


def plain_name(path: Path) -> str:
    """File name without folder, compression suffix and content suffix (``log`` of ``folder/log.swf.xz``)."""
    name = Path(path.stem) if path.suffix.lower() in PACKED else Path(path.name)
    return name.stem if name.suffix.lower() in _CONTENT else name.name


def read_bytes(path: Path) -> bytes:
    """Content of a file, decompressed according to its suffix (``.xz``, ``.gz``, anything else is plain).

    Raises
    ------
    WorkloadError
        If the file is missing, unreadable, larger than the limits, or not compressed as its suffix states.
    """
    try:
        return read_file(path)
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None


def decompress(data: bytes, path: Path) -> bytes:
    """Decompress data by the suffix of ``path``; raise :class:`WorkloadError` if it is not in that format."""
    try:
        return unpack(data, path.suffix)
    except InputError as error:
        raise WorkloadError(str(error), str(path)) from None


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file, compressed according to its suffix, under a temporary name in the same folder, then rename it.

    Raises
    ------
    WorkloadError
        If the folder does not exist or cannot be written.
    """
    suffix = path.suffix.lower()
    _write(path, lambda temporary: temporary.write_bytes(_COMPRESS[suffix](data) if suffix in _COMPRESS else data))


def write_pieces(path: Path, pieces: Iterable[bytes]) -> None:
    """Write a file in pieces, so that it is never in memory as a whole; else as :func:`write_bytes`.

    Raises
    ------
    WorkloadError
        If the folder does not exist or cannot be written.
    """

    def write(temporary: Path) -> None:
        with _OPENERS.get(path.suffix.lower(), open)(temporary, "wb") as stream:
            for piece in pieces:
                stream.write(piece)

    _write(path, write)


def _write(path: Path, write: Callable[[Path], object]) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        try:
            refuse_special(path)
            write(temporary)
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise WorkloadError(
            f"cannot write the file: {error.strerror or error}; name an existing folder that you may write", str(path)
        ) from None
