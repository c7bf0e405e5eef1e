"""The lines of a log, whatever its size: read in pieces of a megabyte, decoded, never all at once."""

from __future__ import annotations

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
        """Its content, unpacked, in pieces.

        Raises
        ------
        WorkloadError
            It cannot be read, or is larger than the limits.
        """
        try:
            if self.data is not None:
                yield from unpack_pieces(self.data, self.path.suffix, LOG_BYTES)
            else:
                yield from read_pieces(self.path, LOG_BYTES)
        except InputError as error:
            raise WorkloadError(str(error), self.where) from None

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
            lines = decoded(rest + whole).split("\n")
            yield number, lines
            number += len(lines)
            rest = tail
        if rest:
            yield number, [decoded(rest)]


@dataclass(frozen=True)
class Head:
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


def opened(log: LogFile) -> tuple[Head, Iterator[bytes]]:
    """The beginning of a log, and all of its content from the beginning on."""
    pieces = log.pieces()
    first = next(pieces, b"")
    lines = [line.strip() for line in decoded(first[: LINE_BYTES.value]).split("\n", _HEAD_LINES)[:_HEAD_LINES]]
    return Head(first[:16], tuple(filter(None, lines))), chain((first,) if first else (), pieces)


def decoded(data: bytes) -> str:
    """Text of a log."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")  # older logs have names in Latin-1


def shown(text: str, most: int = 40) -> str:
    """A piece of a line as an error shows it."""
    return repr(text if len(text) <= most else text[: most - 3] + "...")
