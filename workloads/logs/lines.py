"""The lines of a log, whatever its size, packing and encoding: read in pieces of a megabyte, never all at once."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from spillway.base.files import read_pieces, unpack_pieces
from spillway.base.limits import LINE_BYTES, LOG_BYTES, InputError
from spillway.workloads.errors import WorkloadError

Block = tuple[int, list[str]]
"""Number of the first line, counted from 1, and some lines without their ends."""

_HEAD_LINES = 200
_END = "\r\x1a\x00"
"""Signs at the end of lines that are no part of them: of line ends and ends of files on other systems."""
_WIDE = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF32_BE: "utf-32", codecs.BOM_UTF16_LE: "utf-16",
         codecs.BOM_UTF16_BE: "utf-16"}  # fmt: skip
"""Encodings by the byte order mark that a text begins with."""


@dataclass(frozen=True)
class LogFile:
    """A log to be read.

    Attributes
    ----------
    where
        Its name in errors.
    path
        Its file; the suffix states the compression.
    data
        Its bytes, where it is a member of an archive; else it is read from the file.
    """

    where: str
    path: Path
    data: bytes | None = None

    @classmethod
    def of(cls, path: Path | str) -> LogFile:
        """The log in a file."""
        return cls(str(path), Path(path))

    def pieces(self) -> Iterator[bytes]:
        """Its content, unpacked, UTF-16 and UTF-32 as UTF-8, in pieces.

        Raises
        ------
        WorkloadError
            It cannot be read, or is larger than the limits.
        """
        try:
            if self.data is not None:
                yield from _plain(unpack_pieces(self.data, self.path.suffix, LOG_BYTES))
            else:
                yield from _plain(read_pieces(self.path, LOG_BYTES))
        except InputError as error:
            raise WorkloadError(str(error), self.where) from None
        except UnicodeDecodeError as error:
            raise WorkloadError(f"cannot be read as {error.encoding.upper()}: {error.reason}", self.where) from None

    def blocks(self, pieces: Iterable[bytes] | None = None) -> Iterator[Block]:
        """Its lines, in blocks."""
        number, rest = 1, b""
        for piece in self.pieces() if pieces is None else pieces:
            whole, newline, tail = piece.rpartition(b"\n")
            if not newline:
                rest += tail
                if len(rest) > LINE_BYTES.value:
                    raise WorkloadError(f"this line {LINE_BYTES.text()}", f"{self.where}:{number}")
                continue
            lines = _lines(rest + whole)
            yield number, lines
            number += len(lines)
            rest = tail
        if number == 1 and rest and not rest.strip(b"\0"):
            raise WorkloadError("expected the lines of a log, got nothing but zero bytes", self.where)
        if rest:
            yield number, _lines(rest)


def _plain(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """UTF-8, with line feeds between lines, of texts that begin as UTF-16 or have only carriage returns."""
    first = next(pieces, b"")
    pieces = chain((first,), pieces)
    zeros = [byte == 0 for byte in first[:4]]
    wide = "utf-16-le" if zeros == [False, True] * 2 else "utf-16-be" if zeros == [True, False] * 2 else None
    wide = next((name for begin, name in _WIDE.items() if first.startswith(begin)), wide)
    if wide is not None:
        return (text.encode() for text in codecs.iterdecode(pieces, wide))
    if b"\r" in first and b"\n" not in first:
        return (piece.replace(b"\r", b"\n") for piece in pieces)
    return filter(None, pieces)


def _lines(data: bytes) -> list[str]:
    text = decoded(data)
    lines = text.split("\n")
    return [line.rstrip(_END) for line in lines] if any(sign in text for sign in _END) else lines


@dataclass(frozen=True)
class LogHead:
    """The beginning of a log, by which its format is recognised.

    Attributes
    ----------
    start
        Its first bytes.
    lines
        Its first lines that are not empty.
    """

    start: bytes
    lines: tuple[str, ...]

    @property
    def first(self) -> str:
        """The first line that is not empty; "" for an empty log."""
        return self.lines[0] if self.lines else ""


def opened(log: LogFile) -> tuple[LogHead, Iterator[bytes]]:
    """The beginning of a log, and all of its content from the beginning on."""
    pieces = log.pieces()
    first = next(pieces, b"")
    lines = [line.strip() for line in _lines(first[: LINE_BYTES.value])[:_HEAD_LINES]]
    return LogHead(first[:16], tuple(filter(None, lines))), chain((first,) if first else (), pieces)


def decoded(data: bytes) -> str:
    """Text of a log: UTF-8; lines that are not (older logs, names of users) are Latin-1."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return data.decode()
    except UnicodeDecodeError:
        lines = data.split(b"\n")
        return "\n".join(map(decoded, lines)) if len(lines) > 1 else data.decode("latin-1")


def shown(text: str, most: int = 40) -> str:
    """A piece of a line as an error shows it."""
    return repr(text if len(text) <= most else text[: most - 3] + "...")
