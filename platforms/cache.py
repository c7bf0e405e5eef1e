"""A cache of large machines that were generated or read, by digest: in this process, and on the disk for the next one.

Writing the XML of the thesis's machine, with its 11,883 routes, and reading it again took a fifth of a second at the
start of every run. An entry's name is the digest of its input and of our code, so that no entry is ever stale. An
unreadable entry is made anew. A folder that cannot be written, or that other users can write to, is not used.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import io
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from spillway.base import limits
from spillway.platforms.model import Platform

SMALLEST, LARGEST = 200_000, 20_000_000
"""Bytes of XML of the machines that are kept: smaller ones are read in no time, larger ones take too much space."""

MOST_FILES = 32
"""Most entries on the disk; beyond, the least recently used one is deleted."""

_MOST_HERE = 2
"""Platforms that are kept in this process."""

_here: dict[str, Platform] = {}


def text(description: object, make: Callable[[], str]) -> str:
    """The XML of a description, from the cache or newly made; the description's ``repr`` identifies it."""
    name = f"{_digest(repr(description).encode())}.xml"
    found = _read(name)
    if found is not None:
        return found.decode()
    xml = make()
    if SMALLEST <= len(xml) <= LARGEST:
        _write(name, xml.encode())
    return xml


def platform(xml: bytes, source: str, read: Callable[[], Platform]) -> Platform:
    """The platform of an XML text, from the cache or newly read; ``source`` names it in messages."""
    if not SMALLEST <= len(xml) <= LARGEST:
        return read()
    digest = _digest(xml)
    found = _here.get(digest) or _unpickled(_read(_name(digest)))
    if found is None:
        found = read()
        _keep(digest, found)
    _keep_here(digest, found)
    named = copy.copy(found)
    object.__setattr__(named, "source", source)
    return named


def keep(xml: str, made: Platform) -> None:
    """Keep a platform that was built without its XML and equals the platform read from it."""
    if SMALLEST <= len(xml) <= LARGEST:
        digest = _digest(xml.encode())
        _keep_here(digest, made)
        if _read(_name(digest)) is None:
            _keep(digest, made)


def _keep_here(digest: str, found: Platform) -> None:
    _here.pop(digest, None)
    _here[digest] = found
    while len(_here) > _MOST_HERE:
        del _here[next(iter(_here))]


def _keep(digest: str, found: Platform) -> None:
    stream = io.BytesIO()
    with contextlib.suppress(pickle.PicklingError, RecursionError):  # deeply nested zones
        _Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(found)
        if stream.tell() <= LARGEST:
            _write(_name(digest), stream.getvalue())


def _name(digest: str) -> str:
    return f"{digest}.platform"


def _digest(data: bytes) -> str:
    """Digest of an entry's input, of the code that makes it, and of the limits that apply."""
    total = hashlib.sha256(data)
    total.update(f"{_code()} {limits.ELEMENTS.value} {limits.HOSTS.value}".encode())
    return total.hexdigest()


@functools.cache
def _code() -> str:
    """Paths, sizes and times of our sources, as in Python's bytecode cache, and the versions of Python and NumPy."""
    files = sorted((*Path(__file__).parent.rglob("*.py"), *Path(limits.__file__).parent.glob("*.py")))
    stamps = [(str(path), (found := path.stat()).st_size, found.st_mtime_ns) for path in files]
    return repr((sys.version, np.__version__, stamps))


# --------------------------------------------------------------------------- on the disk


def folder() -> Path | None:
    """Folder of the entries, in the user's cache folder; ``None`` if it is unusable or other users can write to it."""
    try:
        path = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "spillway" / "platforms"
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.stat()
    except (OSError, RuntimeError):  # no home
        return None
    return path if found.st_uid == os.geteuid() and not found.st_mode & 0o022 else None


def _read(name: str) -> bytes | None:
    """Contents of the entry of a name; ``None`` if it is absent or damaged."""
    place = folder()
    if place is None:
        return None
    try:
        data = (place / name).read_bytes()
        os.utime(place / name)
    except OSError:
        return None
    checksum, contents = data[:32], data[32:]
    return contents if hashlib.sha256(contents).digest() == checksum else None


def _write(name: str, contents: bytes) -> None:
    """Write an entry, whole or not at all; errors of the disk are ignored."""
    place = folder()
    if place is None:
        return
    with contextlib.suppress(OSError):
        descriptor, temporary = tempfile.mkstemp(dir=place)
        try:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(hashlib.sha256(contents).digest() + contents)
            os.replace(temporary, place / name)
        except BaseException:
            os.unlink(temporary)
            raise
        for path in sorted(place.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True)[MOST_FILES:]:
            path.unlink()


class _Pickler(pickle.Pickler):
    """A pickler that also takes read-only mappings, which Python does not pickle."""

    def reducer_override(self, value: Any) -> Any:
        return (_read_only, (dict(value),)) if isinstance(value, MappingProxyType) else NotImplemented


def _read_only(values: dict[str, str]) -> Mapping[str, str]:
    return MappingProxyType(values)


def _unpickled(data: bytes | None) -> Platform | None:
    """A platform that this module has pickled, from a folder that only the user can write to."""
    if data is None:
        return None
    try:
        found = pickle.loads(data)
    except Exception:  # a changed module may raise anything; the platform is then read anew
        return None
    return found if isinstance(found, Platform) else None
