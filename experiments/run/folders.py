"""Files of a campaign, and folders of runs that appear whole or not at all (:mod:`spillway.base.durable`)."""

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
from spillway.base.files import read_file
from spillway.base.limits import InputError
from spillway.experiments.run.errors import SpecError

RUN_FILE = "run.json"
INPUTS = "inputs"
MANIFEST = "manifest.json"
FINISHED, FAILED = "finished", "failed"
_TRIES = 100
"""Attempts to create a working folder beside runs that end."""


def make_folder(path: Path) -> Path:
    """Make a campaign's folder; raise :class:`SpecError` if it is not writable."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise SpecError(
            f"cannot write results to {str(path)!r}: {durable.reason(error)}; name another folder with --out"
        ) from None
    return path


@contextlib.contextmanager
def preparing(*folders: Path) -> Iterator[None]:
    """Remove new entries of these folders when the block raises: a command that is refused leaves nothing.

    Earlier entries stay; a new folder is removed with its contents. Only names directly in the given folders are
    compared, not below them: a folder of results may hold thousands of runs.
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
    """Yield a new working folder, which replaces ``folder`` at the end if it is sealed.

    :mod:`spillway.experiments.run.manifest` seals it. A process that is stopped or killed in the middle leaves the old
    folder as it was, and two processes that do the same run do not disturb each other. Without a seal nothing is kept.

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
            # another worker's run removes the empty folder when it ends, perhaps between these two steps
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
    """Whether a folder holds a run's results; :mod:`spillway.experiments.run.manifest` checks that they are whole."""
    return read_json(folder / RUN_FILE).get("status") == FINISHED


def write_json(path: Path, data: Any, *, sync: bool = True) -> None:
    """Write a JSON file; infinite and undefined numbers become ``null``. ``sync``: see :func:`write_text`."""
    write_text(path, json.dumps(_plain(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n", sync=sync)


def write_text(path: Path, text: str, *, sync: bool = True) -> None:
    """Write a text file, whole or not at all; without ``sync`` if its folder is sealed later."""
    durable.write_text(path, text, sync=sync)


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object; ``{}`` if the file is missing or damaged."""
    try:
        data = json.loads(read_file(path))
    except (InputError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
