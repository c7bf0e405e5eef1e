"""Files that appear under their name only when they are complete."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from spillway.base import durable
from spillway.base.durable import PARTIAL
from spillway.simulator.errors import SimulatorInputError

_CHUNK = 512


def check_export(prefix: str) -> None:
    """Make sure that files can be written under a prefix; :class:`SimulatorInputError` gives the reason if not."""
    folder = Path(prefix + "_jobs.csv").parent
    if not folder.is_dir():
        raise SimulatorInputError(
            f"the folder {str(folder)!r} of the export prefix {prefix!r} does not exist; create it"
        )
    probe = Path(prefix + "_jobs.csv" + PARTIAL)
    try:
        probe.open("w").close()
        probe.unlink()
    except OSError as fault:
        raise SimulatorInputError(f"cannot write files with the export prefix {prefix!r}: {fault}") from None


class OutputFile:
    """A text file, written in chunks under a temporary name.

    Parameters
    ----------
    path
        Final name of the file.
    """

    __slots__ = ("_lines", "_stream", "_temporary", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self._temporary = path + PARTIAL
        self._lines: list[str] = []
        try:
            self._stream: TextIO = durable.open_text(Path(self._temporary), Path(path))
        except OSError as fault:
            raise SimulatorInputError(str(fault)) from None

    def write(self, *texts: str) -> None:
        """Append texts."""
        lines = self._lines
        lines += texts
        if len(lines) >= _CHUNK:
            self._stream.write("".join(lines))
            lines.clear()

    def finish(self) -> None:
        """Write the remaining texts and give the file its name, durably (:mod:`spillway.base.durable`)."""
        self.abandon()
        durable.settle(Path(self._temporary), Path(self.path))

    def abandon(self) -> None:
        """Write the remaining texts; the file keeps its temporary name."""
        if not self._stream.closed:
            with self._stream as stream:
                stream.write("".join(self._lines))
                self._lines.clear()
