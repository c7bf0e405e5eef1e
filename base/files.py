"""Input of files from outside: regular files only, unpacked as streams, within the limits."""

from __future__ import annotations

import bz2
import gzip
import io
import itertools
import json
import lzma
import os
import re
import stat
import tarfile
import tomllib
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

from spillway.base.limits import DESCRIPTION_BYTES, DIGITS, EXPANSION, FILE_BYTES, NESTING, InputError, Limit
from spillway.base.near import nearest

PACKED = (".gz", ".xz", ".bz2", ".zst", ".zip")
"""Suffixes of packed files: gzip, xz and bzip2 are unpacked when they are read, the others refused by name."""

_CHUNK = 2**20
_NEIGHBOURS = 1000
"""Most names of a folder that are compared with a missing one."""
_ALIKE = 0.7
"""Least likeness (0 to 1) of a name that is suggested."""
_UNSUSPICIOUS = 2**26
"""Unpacked bytes above which the ratio of unpacked to packed size is limited."""

_OPENERS: Mapping[str, Callable[[Any], Any]] = {".gz": gzip.open, ".xz": lzma.open, ".bz2": bz2.open}
_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ": ".xz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst", b"PK\x03\x04": ".zip",
          b"\x1f\x9d": ".Z", b"7z\xbc\xaf": ".7z", b"\x04\x22\x4d\x18": ".lz4"}  # fmt: skip
_REFUSED = {
    ".zst": "it is packed by Zstandard (zstd), which is not unpacked here: unpack it first (zstd -d)",
    ".zip": "it is a zip archive, which is not unpacked here: unpack it first (unzip)",
    ".Z": "it is packed by compress, which is not unpacked here: unpack it first (uncompress)",
    ".7z": "it is a 7-Zip archive, which is not unpacked here: unpack it first (7z x)",
    ".lz4": "it is packed by LZ4, which is not unpacked here: unpack it first (lz4 -d)",
}
_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
FAULTS = (OSError, EOFError, lzma.LZMAError, zlib.error, MemoryError)
"""Exceptions that reading a damaged compressed file may raise."""


class _UnpackedStream(io.RawIOBase):
    """The unpacked contents of a compressed file, as a stream that raises an error at the limits.

    Parameters
    ----------
    packed
        The compressed file.
    suffix
        ``.gz``, ``.xz`` or ``.bz2``.
    size
        Bytes of the compressed file.
    limit
        Most bytes that it may unpack to.
    """

    def __init__(self, packed: IO[bytes], suffix: str, size: int, limit: Limit = FILE_BYTES) -> None:
        if suffix in _REFUSED:
            raise InputError(_REFUSED[suffix])
        self._stream = _OPENERS[suffix](packed)
        self._limit = limit
        self._size = max(size, 1)
        self._read = 0

    def readable(self) -> bool:
        """Whether it can be read: always."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Read some bytes, at most a megabyte; ``b""`` at the end.

        Raises
        ------
        InputError
            There are more than the limit or :data:`~spillway.base.limits.EXPANSION` allow.
        """
        data: bytes = self._stream.read(min(size, _CHUNK) if size >= 0 else _CHUNK)
        self._read += len(data)
        if self._read > self._limit.value:
            raise InputError(self._limit.text())
        if self._read > max(_UNSUSPICIOUS, EXPANSION.value * self._size):
            raise InputError(EXPANSION.text())
        return data


def _unpacked(packed: IO[bytes], suffix: str, size: int, limit: Limit) -> _UnpackedStream:
    """A stream that is read to its limit first if its end states a suspicious size: a bomb is refused unparsed.

    That is 30 times as fast as to read its lines up to there. Only gzip states a size (modulo 2**32).
    """
    if suffix == ".gz":
        packed.seek(max(0, packed.seek(0, os.SEEK_END) - 4))
        stated = int.from_bytes(packed.read(4), "little")
        packed.seek(0)
        if stated > max(_UNSUSPICIOUS, EXPANSION.value * size):
            first = _UnpackedStream(packed, suffix, size, limit)
            while first.read():
                pass
            packed.seek(0)
    return _UnpackedStream(packed, suffix, size, limit)


def advice(path: Path | str) -> str:
    """Advice about a missing file: the nearest name in its folder, or a check of the name and the folder.

    Returns
    -------
    str
        Words for the end of an error, with their ``;``.
    """
    folder = Path(path).parent
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in itertools.islice(entries, _NEIGHBOURS)]
    except (OSError, ValueError):
        return f"; there is no folder {str(folder)!r}: check the path"
    found = nearest(Path(path).name, sorted(names), _ALIKE)
    return f"; did you mean {str(folder / found)!r}?" if found else "; check the name, and the folder it is in"


def open_regular(path: Path | str) -> IO[bytes]:
    """Open a regular file for reading; never waits, as opening a pipe would.

    Raises
    ------
    InputError
        There is no such file, it may not be read, or it is something else: a folder, a pipe, a device, a socket.
    """
    try:
        kind = _KINDS.get(stat.S_IFMT(os.stat(path).st_mode))
        if kind:
            raise InputError(f"cannot be read: it is {kind}; give a file")
        return open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    except OSError as error:
        todo = advice(path) if isinstance(error, FileNotFoundError) else ""
        raise InputError(f"cannot be read: {error.strerror or error}{todo}") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"cannot be read: no name of a file ({error})") from None  # a NUL byte in it


def read_file(path: Path | str, limit: Limit = FILE_BYTES) -> bytes:
    """Content of a file, unpacked according to its suffix (``.gz``, ``.xz``, ``.bz2``; anything else is plain).

    Raises
    ------
    InputError
        It cannot be read, does not match its suffix, or has more bytes than the limits allow.
    """
    with open_regular(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        suffix = Path(path).suffix.lower()
        if suffix in PACKED:
            return _unpack(stream, suffix, size)
        if size > limit.value:
            raise InputError(limit.text())
        data = stream.read(size + 1)  # not the limit's bytes at once: it would take their memory
        while len(data) <= limit.value and (more := stream.read(_CHUNK)):  # some (below /proc) state no size
            data += more
    if len(data) > limit.value:
        raise InputError(limit.text())
    return data


def read_pieces(path: Path | str, limit: Limit = FILE_BYTES) -> Iterator[bytes]:
    """Content of a file as :func:`read_file` gives it, in pieces of at most a megabyte; also packed without a suffix.

    Raises
    ------
    InputError
        As for :func:`read_file`, when the piece is reached.
    """
    with open_regular(path) as stream:
        yield from _pieces(stream, Path(path).suffix.lower(), os.fstat(stream.fileno()).st_size, limit)


def unpack_pieces(data: bytes, suffix: str, limit: Limit = FILE_BYTES) -> Iterator[bytes]:
    """Undo the compression that a suffix names, in pieces of at most a megabyte; else give the data unchanged."""
    yield from _pieces(io.BytesIO(data), suffix.lower(), len(data), limit)


def _pieces(stream: IO[bytes], suffix: str, size: int, limit: Limit) -> Iterator[bytes]:
    head = stream.read(6)
    stream.seek(0)
    suffix = next((packing for magic, packing in _MAGIC.items() if head.startswith(magic)), suffix)
    try:
        is_packed = suffix in PACKED or suffix in _REFUSED
        source: Any = _unpacked(stream, suffix, size, limit) if is_packed else stream
        count = 0
        while piece := source.read(_CHUNK):
            count += len(piece)
            if count > limit.value:
                raise InputError(limit.text())
            yield piece
    except FAULTS as error:
        what = f"expected a complete {suffix} file, decompression failed" if suffix in PACKED else "cannot be read"
        raise InputError(f"{what}: {_why(error)}") from None


def unpack(data: bytes, suffix: str) -> bytes:
    """Undo the compression that a suffix names (as :func:`read_file` does); else return the data unchanged."""
    return _unpack(io.BytesIO(data), suffix.lower(), len(data)) if suffix.lower() in PACKED else data


def _unpack(packed: IO[bytes], suffix: str, size: int) -> bytes:
    try:
        stream = _UnpackedStream(packed, suffix, size)
        parts = []
        while part := stream.read():
            parts.append(part)
        return b"".join(parts)
    except FAULTS as error:
        raise InputError(f"expected a complete {suffix} file, decompression failed: {_why(error)}") from None


def members(path: Path | str) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Regular files in a tar archive (plain, or packed by gzip, bzip2 or xz): name, and a function that reads it.

    The archive is read once, as a stream: each function must be called before the next member is requested.

    Raises
    ------
    InputError
        The archive cannot be read, is damaged, or has more bytes than the limits allow.
    """
    with open_regular(path) as file:
        size, head = os.fstat(file.fileno()).st_size, file.peek(6) if isinstance(file, io.BufferedReader) else b""
        suffix = next((suffix for magic, suffix in _MAGIC.items() if head.startswith(magic)), "")
        stream: Any = _UnpackedStream(file, suffix, size) if suffix else file
        try:
            with tarfile.open(fileobj=stream, mode="r|") as archive:
                for member in archive:
                    if member.isfile():
                        yield member.name.removeprefix("./"), partial(_content, archive, member)
        except (*FAULTS, tarfile.TarError) as error:
            raise InputError(f"cannot be read as an archive: {_why(error)}") from None


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes:
    if member.size > FILE_BYTES.value or member.sparse:
        raise InputError(f"member {member.name[:80]!r} {FILE_BYTES.text()}")
    stream = archive.extractfile(member)
    assert stream is not None, "a regular file has content"
    try:
        return stream.read()
    except (*FAULTS, tarfile.TarError) as error:
        raise InputError(f"cannot be read at member {member.name[:80]!r}: {_why(error)}") from None


def _why(error: BaseException) -> str:
    return "not enough memory" if isinstance(error, MemoryError) else str(error) or type(error).__name__


def text_of(data: bytes) -> str:
    """UTF-8 text without a byte order mark; raise :class:`InputError` for other data."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"not a UTF-8 text (byte {error.start})") from None


def parse_toml(text: str, limit: Limit = DESCRIPTION_BYTES) -> dict[str, Any]:
    """Read TOML text; raise :class:`InputError` if it is invalid or exceeds the limits."""
    if len(text) > limit.value:
        raise InputError(limit.text())
    if any(map(_is_too_dotted, text.splitlines())):
        raise InputError(NESTING.text())
    try:
        table = tomllib.loads(text)
        refuse_nesting(table)
    except RecursionError:
        raise InputError(NESTING.text()) from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"not TOML: {number_fault(error)}") from None
    return table


def _is_too_dotted(line: str) -> bool:
    """Whether a line of TOML has a dotted key beyond the limit: reading takes time quadratic in its parts."""
    if line.count(".") < NESTING.value:
        return False
    keys = _TOML_ENDS_OF_KEYS.split(_TOML_STRING.sub("x", line))
    return any(key.count(".") >= NESTING.value and _TOML_KEY.fullmatch(key) is not None for key in keys)


_TOML_STRING = re.compile(r'"(?:[^"\\]|\\.)*+"|\'[^\']*+\'')
_TOML_ENDS_OF_KEYS = re.compile(r"[=,{}\[\]#]")
_TOML_KEY = re.compile(r"(?:\s*+[\w-]++\s*+\.)*+\s*+[\w-]++\s*+")


_LISTS_AND_TABLES = frozenset({dict, list})


def refuse_nesting(value: Any) -> None:
    """Raise :class:`InputError` if lists and tables nest deeper than :data:`~spillway.base.limits.NESTING` levels."""
    level: Iterable[Any] = (value,)
    for _ in range(NESTING.value):
        parts = [*itertools.chain.from_iterable(item.values() if isinstance(item, dict) else item for item in level)]
        if _LISTS_AND_TABLES.isdisjoint(map(type, parts)):  # most files end here: without a loop in Python
            return
        level = [part for part in parts if isinstance(part, dict | list)]
    raise InputError(NESTING.text())


def number_fault(error: ValueError) -> str:
    """Text for Python's error about a number with too many digits; for any other error its own text."""
    return DIGITS.text() if "integer string conversion" in str(error) else str(error)


def plain_json(data: bytes) -> dict[str, Any] | None:
    """Read a JSON object that needs no remark: names occur once in each object, numbers are finite, limits are kept.

    ``None``: the text is no such object, or has escapes by number (``\\u0041``), and :func:`parse_json` with its hooks
    must read it. A repeated name is lost when it is read; the text then has more colons than the object written again.
    """
    try:
        value = None if b"\\u" in data else msgspec.json.decode(data)
        if not isinstance(value, dict) or msgspec.json.encode(value).count(b":") != data.count(b":"):
            return None
        refuse_nesting(value)
    except (ValueError, RecursionError, OverflowError):
        return None
    return value


def plain_parts(data: bytes, *keys: str) -> dict[str, Any] | None:
    """As :func:`plain_json`, where the members of the lists and objects under some keys stay texts (``msgspec.Raw``).

    :func:`whole_parts` reads them when they are needed: the objects of all together take eight times the memory of the
    text.
    """
    try:
        top = {} if b"\\u" in data else msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        found = {key: msgspec.json.decode(text, type=_PARTS if key in keys else Any) for key, text in top.items()}
        colons = sum(key.count(":") + 1 for key in top)
        for key, text in top.items():
            parts: Any = found[key] if key in keys else [text]
            if isinstance(parts, dict):
                colons += sum(name.count(":") + 1 for name in parts)
                parts = [*parts.values()]
            for begin in range(0, len(parts), AT_A_TIME):
                values = whole_parts(parts[begin : begin + AT_A_TIME])
                refuse_nesting([values])
                colons += msgspec.json.encode(values).count(b":")
        return found if top and colons == data.count(b":") else None
    except (ValueError, RecursionError, OverflowError):
        return None


_PARTS = list[msgspec.Raw] | dict[str, msgspec.Raw]
AT_A_TIME = 1_000
"""Parts that :func:`whole_parts` reads together."""


def whole_parts(parts: list[Any]) -> list[Any]:
    """The members of lists and objects that :func:`plain_parts` left as texts; other members as they are."""
    if not all(isinstance(part, msgspec.Raw) for part in parts):
        return parts
    found: list[Any] = msgspec.json.decode(b"[%b]" % b",".join(parts))
    return found


_HALF = re.compile(r"\\u[dD][89a-fA-F]")


def refuse_halves(text: str, value: Any) -> None:
    """Refuse values of a JSON text with half a character (``\\ud800`` alone), which no file and no message can hold.

    Raises
    ------
    InputError
        With the escape.
    """
    if _HALF.search(text) is None:
        return
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        half_of = error.object[error.start]
        raise InputError(f"has half a character (\\u{ord(half_of):x} without its other half)") from None


def parse_json(text: str | bytes, **hooks: Any) -> Any:
    """Read JSON text with the hooks of :func:`json.loads`.

    Raises
    ------
    InputError
        It is no JSON, or exceeds the limits; the message states line and column if they are known.
    """
    try:
        text = text if isinstance(text, str) else text_of(text)
        value = json.loads(text, **hooks)
        if isinstance(value, dict | list):
            refuse_nesting(value)
        refuse_halves(text, value)
    except json.JSONDecodeError as error:
        raise InputError(f"not a JSON text: {error.msg} (line {error.lineno}, column {error.colno})") from None
    except RecursionError:
        raise InputError(f"the JSON text {NESTING.text()}") from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(f"not a JSON text: {number_fault(error)}") from None
    return value
