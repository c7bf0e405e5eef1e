"""Where a campaign's files are, and how a run's folder appears whole or not at all (:mod:`spillway.base.durable`)."""

from __future__ import annotations

import contextlib
import json
import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spillway.base import durable
from spillway.base.durable import PARTIAL
from spillway.experiments.run.errors import SpecError

RUN_FILE = "run.json"
INPUTS = "inputs"
MANIFEST = "manifest.json"
FINISHED, FAILED = "finished", "failed"
_TRIES = 100
"""How often a run looks for its place beside runs that end."""


def make_folder(path: Path) -> Path:
    """Make a campaign's folder; raise :class:`SpecError` where that cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise SpecError(
            f"cannot write results to {str(path)!r}: {durable.reason(error)}; name another folder with --out"
        ) from None
    return path


@contextlib.contextmanager
def preparing(*folders: Path) -> Iterator[None]:
    """Remove what the block has made in these folders when it raises: a command that is refused leaves nothing.

    What was there before stays; a folder that was not there goes with all that is in it. Names are compared in the
    given folders alone, not below them: a folder of results may hold thousands of runs.
    """
    before = {folder: _names(folder) for folder in folders}
    try:
        yield
    except BaseException:
        for folder, names in before.items():
            for name in _names(folder) - names:
                durable.discard(folder / name)
        raise


def _names(folder: Path) -> set[str]:
    return set(os.listdir(folder)) if folder.is_dir() else set()


@contextlib.contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Give a new folder to work in; sealed (:mod:`spillway.experiments.run.manifest`) it takes the place of ``folder``
    in the end.

    A process that is stopped or killed in the middle leaves the old folder as it was, and two that do the same run do
    not disturb each other. Without a seal nothing is kept.

    Raises
    ------
    WriteFailed
        A disk is full or broken; the old folder is as it was.
    """
    work = _new_folder(folder)
    try:
        try:
            yield work
        finally:
            if (work / MANIFEST).exists():
                durable.replace_folder(work, folder)
    finally:
        durable.discard(work)
        with contextlib.suppress(OSError):
            work.parent.rmdir()


def _new_folder(folder: Path) -> Path:
    partial = folder.parent / PARTIAL
    try:
        for _ in range(_TRIES):
            # the end of another worker's run removes the empty folder at any moment, also between these two steps
            with contextlib.suppress(FileNotFoundError, FileExistsError):
                return _made(partial, folder.name)
        return _made(partial, folder.name)
    except OSError as error:
        raise durable.failed(folder, error) from None


def _made(partial: Path, name: str) -> Path:
    partial.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{name}.", dir=partial))
    work.chmod(0o777 & ~_umask())
    return work


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def is_finished(folder: Path) -> bool:
    """Whether a run has left its results there; whether they are whole says
    :mod:`spillway.experiments.run.manifest`."""
    return read_json(folder / RUN_FILE).get("status") == FINISHED


def write_json(path: Path, data: Any, *, sync: bool = True) -> None:
    """Write a JSON file; what is not a finite number becomes ``null``. ``sync``: :func:`write_text`."""
    write_text(path, json.dumps(_plain(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n", sync=sync)


def write_text(path: Path, text: str, *, sync: bool = True) -> None:
    """Write a text file, whole or not at all; without ``sync`` in a folder that is sealed later."""
    durable.write_text(path, text, sync=sync)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; ``{}`` where there is none that is whole."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
