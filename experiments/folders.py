"""Where a campaign's files are, and how they are written so that a half-written one is never taken for a whole."""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from experiments.errors import SpecError

RUN_FILE = "run.json"
INPUTS = "inputs"
PARTIAL = ".partial"
FINISHED, FAILED = "finished", "failed"


def make_folder(path: Path) -> Path:
    """Make a campaign's folder; raise :class:`SpecError` where that cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        probe = path / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise SpecError(
            f"cannot write results to {str(path)!r}: {error.strerror or error}; name another folder with --out"
        ) from None
    return path


@contextlib.contextmanager
def scratch(folder: Path) -> Iterator[Path]:
    """Give a new folder to work in; what is in it in the end takes the place of ``folder``.

    A process that is stopped or killed in the middle leaves the old folder as it was, and two that do the same run do
    not disturb each other. After :class:`KeyboardInterrupt` or :class:`SystemExit` nothing is kept.
    """
    folder.parent.joinpath(PARTIAL).mkdir(exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent / PARTIAL))
    work.chmod(0o777 & ~_umask())
    keep = False
    try:
        yield work
        keep = True
    except Exception:
        keep = True
        raise
    finally:
        if keep:
            _replace(work, folder)
        shutil.rmtree(work, ignore_errors=True)
        with contextlib.suppress(OSError):
            work.parent.rmdir()


def _replace(work: Path, folder: Path) -> None:
    """Put a folder in another's place; a rename cannot do that where the other is not empty."""
    while True:
        try:
            work.rename(folder)
            return
        except OSError:
            if not folder.exists():
                raise
            old = work.with_name(f"{work.name}.old")
            with contextlib.suppress(OSError):
                folder.rename(old)
            shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def is_finished(folder: Path) -> bool:
    """Whether the folder holds a whole run: its ``run.json`` is written last."""
    return read_json(folder / RUN_FILE).get("status") == FINISHED


def write_json(path: Path, data: Any) -> None:
    """Write a JSON file under a temporary name, then rename it; what is not a finite number becomes ``null``."""
    write_text(path, json.dumps(_plain(data), indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a text file under a temporary name, then rename it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text, encoding="utf-8")
    temporary.replace(path)


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
